//! Privileges that the program does not get, even as root.

use std::io;

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
    set_no_new_privs,
};

/// Gives up all capabilities for good, and sees to it that no program regains any: neither root nor the owner of a setuid file.
pub(super) fn give_up() -> io::Result<()> {
    clear_ambient_capability_set()?;
    if capabilities(None)?
        .effective
        .contains(CapabilitySet::SETPCAP)
    {
        set_capabilities_secure_bits(
            CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED,
        )?;
        let all = (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit));
        // The kernel returns an error for the first number that is no capability.
        for capability in
            all.take_while(|capability| capability_is_in_bounding_set(*capability).is_ok())
        {
            remove_capability_from_bounding_set(capability)?;
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(set_no_new_privs(true)?)
}
