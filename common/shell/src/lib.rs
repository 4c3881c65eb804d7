//! What the commands of jlpns have in common in a shell.
//!
//! - `capacity`: what the machine lets this process have: cores, and memory.
//! - `common`: the flags that every command has, and what the configuration file may hold outside its tables.
//! - `file`: the configuration file: where it is, and whether each of its keys is one.
//! - `layers`: flag before environment before file before default; and where each value comes from.
//! - `reading`: all of it together: what a program was given, and what it says where that is wrong.
//! - `values`: the values of the file as clap reads them.
//! - `log`: what is logged, and whether in colour.
//! - `nearest`: the name that was meant.
//!
//! Clap's commands are the one place where a setting has a name: the key in the file is the flag's long name, and its
//! value goes through the flag's own parser.

pub mod capacity;
pub mod common;
pub mod file;
pub mod layers;
pub mod log;
pub mod nearest;
pub mod reading;
pub mod values;
