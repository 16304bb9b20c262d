//! Landlock: which files this process and its descendants may open and change.

use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::FileType;

use super::beside::beside;
use super::paths::{self, Grants};
use super::{Network, Walls, system};

/// The newest ABI whose rights are requested. Older kernels apply those that they know.
const NEWEST: ABI = ABI::V10;
/// The ABI whose rights all have to hold without bubblewrap.
const REQUIRED: ABI = ABI::V6;

/// Restricts this thread as one layer of several: bubblewrap has left out everything that is not granted, and all networks.
pub(super) fn restrict_in_bubblewrap(walls: &Walls) -> Result<(), Box<dyn Error>> {
    let mut rules = Rules::new(Ruleset::default())?;
    let grants = Grants::new(walls);
    rules.allow(
        ["/proc", "/dev", "/etc", "/sys"].map(PathBuf::from),
        reading(),
    )?;
    rules.allow(
        ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from),
        writing(),
    )?;
    let terminals = ["/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/console"].map(PathBuf::from);
    rules.allow(terminals, terminal())?;
    rules.allow(system::devices(), device())?;
    rules.allow(system::readable(), reading())?;
    rules.allow(grants.read.into_iter().cloned(), reading())?;
    rules.allow(grants.write.into_iter().cloned(), writing())?;
    rules.restrict()
}

/// Restricts this thread by Landlock without bubblewrap. A hidden path is left out by granting its neighbours instead of its parents.
pub(super) fn restrict_alone(walls: &Walls) -> Result<(), Box<dyn Error>> {
    // Without bubblewrap, no other wall takes the place of a right that the kernel does not know.
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(REQUIRED))?
        .scope(Scope::from_all(REQUIRED))?;
    let has_network = walls.network == Network::Machine;
    let ruleset = if has_network {
        // Rights of UDP stay out: they cover the port that the kernel chooses for each lookup of a name.
        ruleset.handle_access(AccessNet::BindTcp)?
    } else {
        let ruleset = ruleset.handle_access(AccessNet::from_all(REQUIRED))?;
        ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessNet::from_all(NEWEST))?
    };
    let mut rules = Rules::new(ruleset)?;
    let grants = Grants::new(walls);
    // A grant of a folder around them must not open the files of other processes or the devices.
    let hidden: Vec<_> = walls
        .hidden
        .iter()
        .cloned()
        .chain(["/proc", "/dev"].map(PathBuf::from))
        .collect();
    rules.allow(system::own_proc(), reading())?;
    if has_network {
        rules.allow([PathBuf::from(system::NAME_SERVERS)], reading())?;
    }
    rules.allow(system::devices(), device())?;
    let around = |tree: &PathBuf| beside(tree, &hidden);
    rules.allow(system::readable().iter().flat_map(around), reading())?;
    rules.allow(grants.read.into_iter().flat_map(around), reading())?;
    rules.allow(grants.write.into_iter().flat_map(around), writing())?;
    // It may lie in a hidden folder.
    rules.allow(walls.scratch.iter().cloned(), writing())?;
    rules.restrict()
}

fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
}

fn device() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate
}

fn terminal() -> BitFlags<AccessFs> {
    device() | AccessFs::ReadDir | AccessFs::IoctlDev
}

struct Rules(RulesetCreated);

impl Rules {
    /// Adds the rights that only newer kernels know, and creates the ruleset.
    fn new(ruleset: Ruleset) -> Result<Self, RulesetError> {
        let ruleset = ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?;
        ruleset.create().map(Self)
    }

    /// Allows `access` below each path. Paths that do not exist get no rule.
    fn allow(
        &mut self,
        paths: impl IntoIterator<Item = PathBuf>,
        access: BitFlags<AccessFs>,
    ) -> Result<(), RulesetError> {
        for path in paths {
            let Ok((file, is_folder)) = open(&path) else {
                continue;
            };
            // The kernel refuses a rule that has rights of folders for a file.
            let access = if is_folder {
                access
            } else {
                access & AccessFs::from_file(NEWEST)
            };
            (&mut self.0).add_rule(PathBeneath::new(file, access))?;
        }
        Ok(())
    }

    fn restrict(self) -> Result<(), Box<dyn Error>> {
        match self.0.restrict_self()?.ruleset {
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
            RulesetStatus::NotEnforced => Err("the kernel does not apply Landlock rules".into()),
        }
    }
}

fn open(path: &Path) -> io::Result<(OwnedFd, bool)> {
    // Only the links of the system, such as /bin, are followed.
    let path = if path.starts_with("/etc") || path.parent() == Some(Path::new("/")) {
        path.canonicalize()?
    } else {
        path.to_owned()
    };
    let file = paths::open(&path)?;
    let is_folder =
        FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) == FileType::Directory;
    Ok((file, is_folder))
}
