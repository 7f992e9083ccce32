import { UsageError } from "../process/failure.ts";
import { type CommandLine, commandLine, type Flag } from "./table.ts";

/** A program whose commands can be completed. */
export interface Program {
  readonly name: string;
  readonly commands: ReadonlyMap<string, CommandLine>;
  /** Command line to complete without a command. @default `--help` and `--version` alone */
  readonly line?: CommandLine;
}

const SCRIPTS = { bash, zsh, fish };
const SHELLS: readonly string[] = Object.keys(SCRIPTS);

/** Command line of `completion`. */
export const COMPLETION: CommandLine = commandLine({
  program: "virtual-workspaces completion",
  words: SHELLS.join("|"),
  summary: "print a completion script for a shell",
  usage: [SHELLS.join("|")],
  description: `Prints a script with which a shell completes commands, flags and files.

  bash   source <(virtual-workspaces completion bash), in ~/.bashrc
  zsh    virtual-workspaces completion zsh > ~/.zfunc/_virtual-workspaces, with ~/.zfunc in fpath before compinit
  fish   virtual-workspaces completion fish > ~/.config/fish/completions/virtual-workspaces.fish`,
  actions: SHELLS,
  sections: {},
});

/** Returns the script for a shell. @throws UsageError for an unknown shell */
export function completionScript(program: Program, [shell, ...more]: readonly string[]): string {
  const script =
    shell !== undefined && Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as keyof typeof SCRIPTS] : undefined;
  if (script === undefined || more.length > 0) throw new UsageError(`name one shell: ${SHELLS.join(", ")}`);
  return script(program);
}

/** Completions of a flag's value. */
interface Completed {
  readonly name: string;
  readonly flag: Flag;
  readonly kind: "switch" | "text" | "file" | "folder" | "words";
  readonly words: readonly string[];
}

function flagsOf({ flags }: CommandLine): readonly Completed[] {
  return Object.entries(flags).map(([name, flag]) => {
    const { value = "" } = flag;
    const words = /^[\w-]+(\|[\w-]+)+$/.test(value) ? value.split("|") : [];
    const kind = words.length > 0 ? "words" : value === "file" || value === "folder" ? value : "text";
    return { name, flag, kind: flag.type === "switch" ? "switch" : kind, words };
  });
}

/** Returns whether arguments of the command are files. */
const takesFiles = ({ words }: CommandLine): boolean => /<(file|view)\b/.test(words);

const shellName = (name: string): string => `_${name.replaceAll("-", "_")}`;

function bash({ name, commands, line }: Program): string {
  const cases = (of: (line: CommandLine) => string): string =>
    [...commands].map(([command, one]) => `    ${command}) ${of(one)} ;;`).join("\n");
  const named = (one: CommandLine, kind: Completed["kind"]): string =>
    flagsOf(one)
      .filter((flag) => flag.kind === kind)
      .map((flag) => `--${flag.name}`)
      .join(" ");
  const settings = (one: CommandLine): string => {
    const all = [...flagsOf(one).map((flag) => `--${flag.name}`), "--help"].join(" ");
    const valued = flagsOf(one).flatMap((flag) =>
      flag.kind === "words" ? [`--${flag.name}) choices='${flag.words.join(" ")}' ;;`] : [],
    );
    const choices = valued.length === 0 ? "" : ` case $prev in ${valued.join(" ")} esac;`;
    const words = `words='${(one.actions ?? []).join(" ")}'; positional=${takesFiles(one) ? "file" : ""}`;
    return `flags='${all}'; files='${named(one, "file")}'; folders='${named(one, "folder")}'; texts='${named(one, "text")}';${choices} ${words}`;
  };
  const fn = shellName(name);
  return `# bash completion for ${name}
${fn}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command= word
  local flags= files= folders= texts= choices= words= positional=
  # bash takes --flag=value apart.
  if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]]; then command=$word; break; fi
  done
  case $command in
${cases(settings)}
    *) ${line === undefined ? "flags='--help --version'" : settings(line)}; words='${[...commands.keys()].join(" ")}' ;;
  esac
  COMPREPLY=()
  if [[ -n $choices ]]; then mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
  elif [[ " $folders " == *" $prev "* ]]; then compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur")
  elif [[ " $files " == *" $prev "* ]]; then compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  elif [[ " $texts " == *" $prev "* ]]; then return
  elif [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")
  elif [[ $positional == file ]]; then compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  else mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  fi
}
complete -F ${fn} ${name}
`;
}

function zsh({ name, commands, line }: Program): string {
  const fn = shellName(name);
  const listed = [...commands].map(([command, { summary }]) => zshWord(`${command}:${summary}`));
  const action = ({ kind, words }: Completed): string => {
    if (kind === "words") return `(${words.join(" ")})`;
    return kind === "file" ? "_files" : kind === "folder" ? "_files -/" : " ";
  };
  const spec = (one: Completed): string => {
    const help = `[${one.flag.help.replace(/[[\]\\]/g, "\\$&")}]`;
    const value =
      one.kind === "switch" ? "" : `:${(one.flag.value ?? one.flag.type).replaceAll(":", "\\:")}:${action(one)}`;
    return zshWord(`*--${one.name}${one.kind === "switch" ? "" : "="}${help}${value}`);
  };
  const specs = (one: CommandLine): readonly string[] => flagsOf(one).map(spec);
  const rest = (one: CommandLine): string => {
    if (one.actions !== undefined) return zshWord(`1:action:(${one.actions.join(" ")})`);
    return zshWord(takesFiles(one) ? "*:file:_files" : "*: : ");
  };
  const body = (one: CommandLine): string => ["_arguments", ...specs(one), rest(one)].join(" \\\n        ");
  return `#compdef ${name}
${fn}() {
  local -a commands
  commands=(
    ${listed.join("\n    ")}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  local command=$words[2]
  if [[ $command != -* ]]; then
    shift words
    (( CURRENT-- ))
  fi
  case $command in
${[...commands].map(([command, one]) => `    ${command})\n      ${body(one)} ;;`).join("\n")}
    *)
      ${line === undefined ? "_arguments '--help[this text]' '--version[the version]'" : body(line)} ;;
  esac
}
if [[ $funcstack[1] == ${fn} ]]; then ${fn} "$@"; else compdef ${fn} ${name}; fi
`;
}

const zshWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function fish({ name, commands, line }: Program): string {
  const complete = (...words: readonly string[]): string => ["complete", "-c", name, ...words].join(" ");
  const flagLine = (condition: string, { name: flag, flag: { help, short }, kind, words }: Completed): string => {
    const value = kind === "words" ? `-x -a ${fishWord(words.join(" "))}` : kind === "text" ? "-x" : VALUES[kind];
    const one = short === undefined ? "" : ` -s ${short}`;
    return complete("-n", fishWord(condition), `${`-l ${flag}${one} ${value}`.trim()}`, "-d", fishWord(help));
  };
  const none = "__fish_use_subcommand";
  return `# fish completion for ${name}
${[
  complete("-f"),
  ...[...commands].map(([command, { summary }]) => complete("-n", none, "-a", command, "-d", fishWord(summary))),
  ...(line === undefined ? [] : flagsOf(line)).map((flag) => flagLine(none, flag)),
  ...[...commands].flatMap(([command, one]) => {
    const seen = `__fish_seen_subcommand_from ${command}`;
    return [
      ...(one.actions === undefined ? [] : [complete("-n", fishWord(seen), "-a", fishWord(one.actions.join(" ")))]),
      ...(takesFiles(one) ? [complete("-n", fishWord(seen), "-F")] : []),
      ...flagsOf(one).map((flag) => flagLine(seen, flag)),
    ];
  }),
].join("\n")}
`;
}

const VALUES: Readonly<Record<"switch" | "file" | "folder", string>> = {
  switch: "",
  file: "-r -F",
  folder: "-x -a '(__fish_complete_directories)'",
};

const fishWord = (text: string): string => `'${text.replace(/['\\]/g, "\\$&")}'`;
