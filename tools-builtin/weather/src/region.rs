//! Abbreviations of regions and countries, which the service does not know.

/// Returns the name of a state or province for its abbreviation. The country decides: `CA` is California in the United States.
pub(crate) fn region_of(country_code: &str, abbreviation: &str) -> Option<&'static str> {
    let table = match country_code {
        "US" => STATES,
        "CA" => PROVINCES,
        _ => return None,
    };
    let (_, name) = table
        .split(", ")
        .filter_map(|entry| entry.split_once(' '))
        .find(|(short, _)| short.eq_ignore_ascii_case(abbreviation))?;
    Some(name)
}

/// Returns the ISO code of a country for a folded name that the service does not use.
pub(crate) fn country_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "uk" | "greatbritain" => "GB",
        "usa" | "america" | "unitedstatesofamerica" => "US",
        "uae" => "AE",
        "holland" => "NL",
        "czechrepublic" => "CZ",
        _ => return None,
    })
}

/// The postal abbreviations of the states of the United States.
const STATES: &str = "AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, \
    CT Connecticut, DE Delaware, DC District of Columbia, FL Florida, GA Georgia, HI Hawaii, ID Idaho, \
    IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine, MD Maryland, \
    MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, MT Montana, NE Nebraska, \
    NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, \
    ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, SC South Carolina, \
    SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia, WA Washington, \
    WV West Virginia, WI Wisconsin, WY Wyoming";

/// The postal abbreviations of the provinces and territories of Canada.
const PROVINCES: &str = "AB Alberta, BC British Columbia, MB Manitoba, NB New Brunswick, \
    NL Newfoundland and Labrador, NS Nova Scotia, NT Northwest Territories, NU Nunavut, ON Ontario, \
    PE Prince Edward Island, QC Quebec, SK Saskatchewan, YT Yukon";
