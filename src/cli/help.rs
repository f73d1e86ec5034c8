//! What `synth -h` and `synth --help` say: the commands in groups, and what people do most.

use std::fmt::Write;

use clap::Command;

/// Every command, in the group in which it is listed.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Plan", &["plan", "pareto", "compare", "polish", "bound", "survey", "fallbacks"]),
    ("Judge and look", &["verify", "show", "view", "topology", "planners", "explain"]),
    ("Run and convert", &["run", "lower", "convert", "util"]),
];

/// The things people do most, for `synth -h`.
pub const FIRST: &str = "\
Examples:
  synth --torus 4x4x4 --fail 2,3,x -o all.json   plan an all-to-all around a failed cable
  synth --torus 8x8 --collective all_reduce --message-bytes 64KiB --alpha 1us --bandwidth 50GB/s
                                                 the fastest for one message size
  synth verify all.json                          judge any schedule or rank program
  synth run all.json --bytes 16MiB               run it on buffers, compare every element
  synth lower all.json                           the program of each rank

`synth plan -h` lists the options of planning, `synth --help` everything.";

/// The same at length, for `synth --help`.
pub const EXAMPLES: &str = "\
Examples:
  synth --torus 4x4x4 --fail 2,3,x > schedule.json    plan around one failed cable
  synth --torus 8x8 --parts auto -o schedule.json.gz  choose how finely messages are cut
  synth --torus 8x8 --message-bytes 64KiB --alpha 1us --bandwidth 50GB/s
                                                      the fastest for one message size
  synth --torus 4x4 --collective broadcast --root 5   another collective than all-to-all
  synth verify schedule.json                          judge any schedule
  synth run schedule.json --bytes 16MiB               carry it out among threads, and compare every element
  synth lower schedule.json --barriers neighbor       the program of each rank, without a step clock
  synth bound --torus 4x4x4 --fail 2,3,x              what no schedule can beat, and why

Exit codes:
  0  done; for verify: every schedule holds
  1  a schedule was refuted
  2  wrong usage, or a file that cannot be read or written
  3  impossible: the live network is not connected, or more steps are needed than allowed
  4  stopped by the time limit or Ctrl-C before the proven optimum (the best schedule found is written)
A reader that closes the pipe early (| head) changes none of them.

Environment:
  SYNTH_MAX_FILE    the largest file that is read, packed or not (1GiB, unless stated)
  SYNTH_MAX_MEMORY  the most memory that judging a file may take (48MiB and 12 bytes for each of its bytes, unless \
     stated)";

/// Lists the commands in groups, and on the short help no options of planning, so that it fits a screen: `synth plan
/// -h` has these.
pub fn grouped(mut command: Command) -> Command {
    let style = *command.get_styles().get_header();
    let mut list = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(list, "{style}{group}:{style:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let _ = writeln!(list, "  {name:<9}  {}", about.map(ToString::to_string).unwrap_or_default());
        }
        list.push('\n');
    }
    // The help of the help, and of the version, come with building.
    command = command.mut_args(|arg| arg.hide_short_help(true));
    command.build();
    command
        .mut_subcommands(|inner| inner.hide(true))
        .override_usage("synth [OPTIONS]\n       synth <COMMAND>")
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{all-args}}{{after-help}}"
        ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::GROUPS;

    #[test]
    fn every_command_is_in_one_group() {
        let command = crate::cli::command();
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(grouped.len(), names.len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), names.into_iter().collect());
    }
}
