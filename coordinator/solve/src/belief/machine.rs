//! Machines: they make claims, and two of them confirm each other only if they are surely two.
//!
//! A machine is its certificate's subject if it showed a certificate. Without one it is what it says
//! that it is, at the address that it comes from. A name is for people and counts for nothing.

use std::collections::BTreeMap;

/// What a worker's connection shows of its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The subject of the certificate that the connection showed, if it showed one.
    pub certificate: Option<String>,
    /// What the worker says of its machine, the same after a restart; empty if it says nothing.
    pub machine: String,
    /// The address that the connection comes from; empty within one process.
    pub address: String,
}

impl Identity {
    /// Whether two machines are surely not one. Without certificates a machine could say that it is
    /// another, so both the machine and the address must differ.
    pub fn is_independent_of(&self, other: &Identity) -> bool {
        match (&self.certificate, &other.certificate) {
            (Some(one), Some(two)) => one != two,
            _ => {
                self.address != other.address
                    && (self.machine != other.machine || self.machine.is_empty())
            }
        }
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.certificate, &*self.machine, &*self.address) {
            (Some(subject), _, _) => write!(f, "certificate {subject}"),
            (None, "", "") => f.write_str("this process"),
            (None, "", address) => write!(f, "some machine at {address}"),
            (None, machine, "") => write!(f, "machine {machine}"),
            (None, machine, address) => write!(f, "machine {machine} at {address}"),
        }
    }
}

/// A machine of a solve, by its number: in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(pub u32);

impl MachineId {
    /// The coordinator itself, which searches again what no connected machine may confirm.
    pub const COORDINATOR: MachineId = MachineId(0);
}

/// What is held of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// What it shows of itself.
    pub identity: Identity,
    /// The names that its workers gave, the last one.
    pub name: String,
    /// Thresholds that it has claimed to be settled.
    pub claims: u64,
    /// How many of them another machine has confirmed.
    pub confirmed: u64,
    /// Whether it has claimed what is not true, or was put out by hand: it gets no leases, and what
    /// only it has claimed does not count.
    pub quarantined: bool,
}

/// All machines of a solve.
#[derive(Clone, Debug)]
pub struct Machines {
    all: Vec<Machine>,
    numbers: BTreeMap<Identity, MachineId>,
}

impl Default for Machines {
    fn default() -> Machines {
        let coordinator = Machine { name: "the coordinator".to_owned(), ..Machine::default() };
        Machines { all: vec![coordinator], numbers: BTreeMap::new() }
    }
}

impl Machines {
    /// The machine that shows this, which is new if none has shown it before.
    pub fn find_or_add(&mut self, identity: &Identity, name: &str) -> MachineId {
        if let Some(&number) = self.numbers.get(identity) {
            name.clone_into(&mut self.all[number.0 as usize].name);
            return number;
        }
        let machine =
            Machine { identity: identity.clone(), name: name.to_owned(), ..Machine::default() };
        self.add(machine)
    }

    /// The machine that shows this, if it is known.
    pub fn find(&self, identity: &Identity) -> Option<MachineId> {
        self.numbers.get(identity).copied()
    }

    /// Adds a machine that is not known.
    pub fn add(&mut self, machine: Machine) -> MachineId {
        let number = MachineId(self.all.len() as u32);
        self.numbers.insert(machine.identity.clone(), number);
        self.all.push(machine);
        number
    }

    /// What is held of a machine.
    pub fn of(&self, machine: MachineId) -> &Machine {
        &self.all[machine.0 as usize]
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, machine: MachineId) -> &mut Machine {
        &mut self.all[machine.0 as usize]
    }

    /// Whether one machine's word confirms the other's.
    pub fn are_independent(&self, one: MachineId, other: MachineId) -> bool {
        if one == MachineId::COORDINATOR || other == MachineId::COORDINATOR {
            return one != other;
        }
        self.of(one).identity.is_independent_of(&self.of(other).identity)
    }

    /// All machines but the coordinator, in the order in which they came.
    pub fn others(&self) -> impl Iterator<Item = (MachineId, &Machine)> {
        (0..).map(MachineId).zip(&self.all).skip(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(certificate: Option<&str>, machine: &str, address: &str) -> Identity {
        let certificate = certificate.map(str::to_owned);
        Identity { certificate, machine: machine.to_owned(), address: address.to_owned() }
    }

    #[test]
    fn only_machines_that_are_surely_two_confirm_each_other() {
        let a = identity(None, "a", "10.0.0.1");
        for (other, independent) in [
            (identity(None, "a", "10.0.0.1"), false),
            (identity(None, "b", "10.0.0.1"), false),
            (identity(None, "a", "10.0.0.2"), false),
            (identity(None, "", "10.0.0.1"), false),
            (identity(None, "b", "10.0.0.2"), true),
            (identity(None, "", "10.0.0.2"), true),
            (identity(Some("x"), "b", "10.0.0.2"), true),
        ] {
            assert_eq!(a.is_independent_of(&other), independent, "{other}");
            assert_eq!(other.is_independent_of(&a), independent, "{other}");
        }
        let shown = |subject| identity(Some(subject), "a", "10.0.0.1");
        assert!(shown("x").is_independent_of(&shown("y")), "certificates cannot be made up");
        assert!(!shown("x").is_independent_of(&identity(Some("x"), "b", "10.0.0.2")));
    }

    #[test]
    fn a_machine_that_comes_again_is_the_same_whatever_its_name() {
        let mut machines = Machines::default();
        let first = machines.find_or_add(&identity(None, "a", "10.0.0.1"), "worker-17");
        assert_eq!(machines.find_or_add(&identity(None, "a", "10.0.0.1"), "worker-18"), first);
        assert_eq!(machines.of(first).name, "worker-18");
        let other = machines.find_or_add(&identity(None, "b", "10.0.0.1"), "worker-17");
        assert_ne!(other, first);
        assert!(!machines.are_independent(first, other));
        assert!(machines.are_independent(first, MachineId::COORDINATOR));
        assert!(!machines.are_independent(MachineId::COORDINATOR, MachineId::COORDINATOR));
    }
}
