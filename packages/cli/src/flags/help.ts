import { Command, type Help } from "commander";
import { commandOf } from "./read.ts";
import type { CommandLine, Flag } from "./table.ts";

const WIDTH = 120;
/** Maximum width of a flag; a longer one has its text on the next line. */
const TERM = 34;

/** Returns the help text of a command, without a final newline. */
export function helpOf(line: CommandLine): string {
  const command = commandOf(line).description(line.description);
  const flags: Readonly<Record<string, Flag>> = line.flags;
  command.configureHelp({
    ...LAYOUT,
    commandUsage: () => usageOf(line).join(`\n${" ".repeat("Usage: ".length)}`),
    optionDescription: ({ long, description }) => `${description}${defaultText(flags[long?.slice(2) ?? ""])}`,
  });
  return command.helpInformation().trimEnd();
}

/** Returns the forms of a command line, one a line. A continued form is indented. */
export function usageOf({ program, words, usage }: CommandLine): readonly string[] {
  const uses = usage ?? [`${words === "" ? "" : `${words} `}[flags]`];
  return uses.map((use) => (use.startsWith(" ") ? `  ${use}` : `${program} ${use}`));
}

/** Returns the help text of a program with its commands, without a final newline. */
export function programHelp(name: string, commands: ReadonlyMap<string, CommandLine>): string {
  const program = new Command(name).usage("<command>").helpCommand(false).optionsGroup("Flags:");
  program.helpOption("--help", "Print this text; after a command, its help.").option("--version", "Print the version.");
  for (const [command, { summary }] of commands) program.command(command).summary(summary);
  const subcommandTerm = (command: Command): string =>
    `${command.name()} ${commands.get(command.name())?.words}`.trimEnd();
  program.configureHelp({ ...LAYOUT, subcommandTerm });
  return `${program.helpInformation().trimEnd()}\n\nUse "${name} <command> --help" for the flags of a command.`;
}

const LAYOUT: Partial<Help> = {
  helpWidth: WIDTH,
  padWidth: () => TERM,
  formatItem(this: Help, ...[term, , text]: Parameters<Help["formatItem"]>) {
    const indent = " ".repeat(TERM + 2);
    const lines = this.boxWrap(text, WIDTH - indent.length).replaceAll("\n", `\n${indent}`);
    return term.length < TERM - 1 ? `  ${term.padEnd(TERM)}${lines}` : `  ${term}\n${indent}${lines}`;
  },
};

function defaultText(flag: Flag | undefined): string {
  const { default: value, otherwise = value } = flag ?? {};
  return otherwise === undefined || otherwise === false ? "" : ` (default ${otherwise})`;
}
