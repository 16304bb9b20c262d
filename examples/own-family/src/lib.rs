//! A family of tools as anybody can write it. A program that links this crate has its tool, its table of settings, its service, its line
//! in `doctor` and its command.

use std::collections::BTreeMap;
use std::sync::Mutex;

use host::settings::{
    Key, Setting, Settings, SettingsError, declare_keys, integer, items, non_blank,
};
use host::{Argument, Command, CommandGroup, Exit, Extension, FamilyReport, Parts, inventory};
use tools::{IgnorePoison as _, Services, ToolContext, ToolError, source, tool};

inventory::submit! {
    Extension::new("garden", source!(), Parts {
        keys: || vec![Box::new(GardenKeys::default())],
        services: insert_garden,
        report: Some(|settings, _| Box::pin(async { Ok(report(settings)) })),
        commands: &[GARDEN],
        ..Parts::NONE
    })
}

declare_keys! {
    /// The keys of the table `[garden]`.
    pub struct GardenKeys;

    /// The beds that can be watered
    pub beds: Vec<Setting<String>> = Key::new("garden.beds", items(non_blank), Vec::new(), "[\"tomatoes\"]");

    /// The minutes for which a bed is watered
    pub minutes: Setting<u32> = Key::new("garden.minutes", integer::<1, _>(), Setting::from_default(5), "5");
}

/// The service of a session: the beds, with the minutes for which each was watered.
struct Garden {
    minutes: u32,
    beds: Mutex<BTreeMap<String, u32>>,
}

fn insert_garden(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    let keys: &GardenKeys = settings.of();
    let beds = keys.beds.iter().map(|bed| (bed.value.clone(), 0));
    services.insert(Garden {
        minutes: keys.minutes.value,
        beds: Mutex::new(beds.collect()),
    });
    Ok(())
}

/// Waters a bed of the garden. Returns the minutes for which it was watered in this session.
#[tool(
    name = "garden.water",
    title = "Water a bed",
    tags = "garden",
    writes = "garden:{bed}",
    needs = Garden
)]
fn water(
    cx: &ToolContext,
    /// The name of the bed.
    bed: String,
) -> Result<String, ToolError> {
    let garden = cx.need::<Garden>()?;
    let mut beds = garden.beds.lock().ignore_poison();
    let Some(minutes) = beds.get_mut(&bed) else {
        let names: Vec<_> = beds.keys().map(String::as_str).collect();
        return Err(ToolError::execution_failed(format!(
            "there is no bed {bed:?}; the beds are: {}",
            names.join(", ")
        )));
    };
    *minutes += garden.minutes;
    Ok(format!("{bed}: {minutes} minutes"))
}

fn report(settings: &Settings) -> FamilyReport {
    let mut report = FamilyReport::default();
    let keys: &GardenKeys = settings.of();
    report
        .lines
        .push(format!("garden: {} beds", keys.beds.len()));
    report
}

const GARDEN: Command = Command {
    about: "List the beds of the garden",
    group: CommandGroup::Use,
    examples: "garden  # List the beds",
    arguments: &[Argument::Settings],
    run: Some(|_, cx| {
        Box::pin(async {
            let settings = cx.settings()?;
            let keys: &GardenKeys = settings.of();
            let beds = keys.beds.iter().map(|bed| format!("{}\n", bed.value));
            cx.write_page(&beds.collect::<String>())?;
            Ok(Exit::Success)
        })
    }),
    ..Command::new("garden")
};
