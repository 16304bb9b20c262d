//! Abbreviations of regions and countries, which the service does not know.

/// Returns the name of a state or province for its folded abbreviation. The country decides: `CA` is California in the United States.
pub(crate) fn region_of(country_code: &str, abbreviation: &str) -> Option<&'static str> {
    let table = match country_code {
        "US" => STATES,
        "CA" => PROVINCES,
        _ => return None,
    };
    table
        .iter()
        .find(|(short, _)| *short == abbreviation)
        .map(|(_, name)| *name)
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
const STATES: &[(&str, &str)] = &[
    ("al", "Alabama"),
    ("ak", "Alaska"),
    ("az", "Arizona"),
    ("ar", "Arkansas"),
    ("ca", "California"),
    ("co", "Colorado"),
    ("ct", "Connecticut"),
    ("de", "Delaware"),
    ("dc", "District of Columbia"),
    ("fl", "Florida"),
    ("ga", "Georgia"),
    ("hi", "Hawaii"),
    ("id", "Idaho"),
    ("il", "Illinois"),
    ("in", "Indiana"),
    ("ia", "Iowa"),
    ("ks", "Kansas"),
    ("ky", "Kentucky"),
    ("la", "Louisiana"),
    ("me", "Maine"),
    ("md", "Maryland"),
    ("ma", "Massachusetts"),
    ("mi", "Michigan"),
    ("mn", "Minnesota"),
    ("ms", "Mississippi"),
    ("mo", "Missouri"),
    ("mt", "Montana"),
    ("ne", "Nebraska"),
    ("nv", "Nevada"),
    ("nh", "New Hampshire"),
    ("nj", "New Jersey"),
    ("nm", "New Mexico"),
    ("ny", "New York"),
    ("nc", "North Carolina"),
    ("nd", "North Dakota"),
    ("oh", "Ohio"),
    ("ok", "Oklahoma"),
    ("or", "Oregon"),
    ("pa", "Pennsylvania"),
    ("ri", "Rhode Island"),
    ("sc", "South Carolina"),
    ("sd", "South Dakota"),
    ("tn", "Tennessee"),
    ("tx", "Texas"),
    ("ut", "Utah"),
    ("vt", "Vermont"),
    ("va", "Virginia"),
    ("wa", "Washington"),
    ("wv", "West Virginia"),
    ("wi", "Wisconsin"),
    ("wy", "Wyoming"),
];

/// The postal abbreviations of the provinces and territories of Canada.
const PROVINCES: &[(&str, &str)] = &[
    ("ab", "Alberta"),
    ("bc", "British Columbia"),
    ("mb", "Manitoba"),
    ("nb", "New Brunswick"),
    ("nl", "Newfoundland and Labrador"),
    ("ns", "Nova Scotia"),
    ("nt", "Northwest Territories"),
    ("nu", "Nunavut"),
    ("on", "Ontario"),
    ("pe", "Prince Edward Island"),
    ("qc", "Quebec"),
    ("sk", "Saskatchewan"),
    ("yt", "Yukon"),
];
