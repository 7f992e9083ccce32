// Why: readers follow a page from top to bottom, and so does the test: one folder, one terminal, every file and command in
// order, and real processes. It compares the output with the page.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { CHILD_ENV } from "../../_support/child-env.ts";
import { Program } from "../../go/support/program.ts";

/** Step of a page: a file to save, or a command with its shown output. */
export type Step =
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  | { readonly kind: "command"; readonly line: string; readonly output: string };

/** Steps below one `##` heading. */
export interface Section {
  readonly title: string;
  readonly steps: readonly Step[];
}

/** Returns whether a page is one session: its front matter says `session: page`. */
export function isSession(markdown: string): boolean {
  return /^---\n(?:.*\n)*?session: page\n(?:.*\n)*?---\n/.test(markdown);
}

/**
 * Returns the steps of a page. A block is a file when its first line names it: `// view.ts` or `# mount.yaml`. A file of the
 * repository that the page shows is saved under its own name.
 */
export function sectionsOf(markdown: string): Section[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ title: text.split("\n", 1)[0] ?? "", steps: stepsOf(text) }))
    .filter(({ steps }) => steps.length > 0);
}

function stepsOf(markdown: string): Step[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$|^<<< (\S+)$/gm)].flatMap(
    ([, language, text = "", file]): Step[] => {
      if (file !== undefined) {
        const path = join(root, "docs/how-to", file);
        return [{ kind: "file", path: basename(path), text: readFileSync(path, "utf8") }];
      }
      if (language === "console") return text.split(/^\$ /m).slice(1).map(commandOf);
      const [, path] = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/.exec(text) ?? [];
      return path === undefined ? [] : [{ kind: "file", path, text }];
    },
  );
}

function commandOf(block: string): Step {
  const [first = "", ...rest] = block.split("\n");
  let line = first;
  // A command continues on the next line after a backslash, and to the end of a here-document.
  while (line.endsWith("\\") && rest.length > 0) line += `\n${rest.shift()}`;
  const [, end] = /<<'?(\w+)'?/.exec(line) ?? [];
  while (end !== undefined && rest.length > 0 && line.split("\n").at(-1) !== end) line += `\n${rest.shift()}`;
  return { kind: "command", line, output: rest.join("\n") };
}

/** Values that change between runs, and the widths of columns. All other output must match exactly. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\b\d\d:\d\d:\d\d GMT[+-]\d{4} \([^)]*\)/g, "<time>"],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uid>"],
  [/\b\d{16,19}\b/g, "<version>"],
  [/(?<=\s)(\d+[dhms])+$/gm, "<age>"],
  [/(?<=\bin )\d+\.\d+(?= s\b)/gm, "<seconds>"],
  [/(?<=127\.0\.0\.1:)\d+/g, "<port>"],
  [/[ \t]+/g, " "],
  [/ $/gm, ""],
];

function normalised(text: string): string {
  return CHANGING.reduce((changed, [pattern, name]) => changed.replace(pattern, name), text).trim();
}

/** Returns the shown output as a pattern: `…` matches text within a line, and on a line of its own any number of lines. */
function shown(output: string): RegExp {
  const literal = normalised(output).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const lines = literal.replace(/\n?^…$/gm, "(?:\\n?.*)*?").replaceAll("…", ".*");
  return new RegExp(`^${lines}$`);
}

interface Served {
  /** Flags that assign a free port of this machine. */
  readonly flags: string;
  /** Output that shows that it is ready. */
  readonly ready: RegExp;
  /** Port in the text of pages. */
  readonly port?: number;
}

/** Commands that run in the background, and the condition for the next command. */
const SERVED: readonly (readonly [RegExp, Served])[] = [
  [
    /^virtual-workspaces dev\b/,
    { flags: "--port 0", ready: / at https:\S+:(\d+)$[\s\S]*^(?:The current context|No view has)/m, port: 6444 },
  ],
  [
    /^virtual-workspaces start\b/,
    {
      flags: "--bind-address=127.0.0.1 --secure-port=0 --experimental-bind-free-port",
      ready: / at https:\S+:(\d+)\/clusters\/root$/m,
      port: 6443,
    },
  ],
  [/^virtual-workspaces agent\b/, { flags: "", ready: /^/ }],
  [
    /^virtual-workspaces front-proxy\b/,
    { flags: "--bind-address=127.0.0.1 --secure-port=0", ready: / at https:\S+:(\d+): /, port: 443 },
  ],
  [
    /^virtual-workspaces /,
    { flags: "--bind-address=127.0.0.1 --secure-port=0", ready: / at https:\S+:(\d+): /, port: 6444 },
  ],
  [/^node \S+ \d+$/, { flags: "0", ready: /^https:\S+:(\d+)$/m, port: 8443 }],
  [/./, { flags: "", ready: /./ }],
];

interface Job {
  readonly line: string;
  readonly program: Program;
  readonly number: number;
}

/** The installed packages that a page uses. */
export interface Installed {
  /** Shell words that run Node.js. */
  readonly node: string;
  /** Folder node_modules. */
  readonly modules: string;
  /** Path of the program `virtual-workspaces` below it. */
  readonly command: string;
}

const FROM_SOURCE: Installed = {
  node: `"${localNode}" --conditions=@virtual-workspaces/source`,
  modules: join(root, "node_modules"),
  command: "../packages/cli/src/bin.ts",
};

/** Terminal and folder of a reader who follows a page. */
export class Session implements AsyncDisposable {
  readonly #folder: Tree = tree({});
  readonly #env: Record<string, string>;
  #cwd: string;
  #jobs: Job[] = [];
  readonly #started: Program[] = [];
  /** Actual ports by the ports in the text of pages. */
  readonly #ports = new Map<number, string>();

  constructor({ node, modules, command }: Installed = FROM_SOURCE) {
    const bin = join(this.#folder.path, ".bin");
    mkdirSync(bin);
    const programs = {
      node: `exec ${node} "$@"`,
      "virtual-workspaces": `exec ${node} "${join(modules, command)}" "$@"`,
    };
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    symlinkSync(modules, join(this.#folder.path, "node_modules"));
    symlinkSync(root, join(this.#folder.path, "virtual-workspaces"));
    this.#cwd = this.#folder.path;
    this.#env = { ...CHILD_ENV, PATH: `${bin}:${process.env["PATH"]}`, HOME: this.#folder.path };
  }

  /** Saves the file, or runs the command and compares its output. */
  async follow(step: Step): Promise<void> {
    if (step.kind === "file") await this.#save(step.path, step.text);
    else await this.#run(step.line, step.output);
  }

  async #save(path: string, text: string): Promise<void> {
    const reloads = this.#reloads();
    mkdirSync(dirname(join(this.#cwd, path)), { recursive: true });
    writeFileSync(join(this.#cwd, path), text);
    const dev = this.#dev();
    if (dev !== undefined && path.endsWith(".ts")) await dev.until("reload", () => this.#reloads() > reloads, 30_000);
  }

  #dev(): Program | undefined {
    return this.#jobs.find(({ line }) => line.startsWith("virtual-workspaces dev "))?.program;
  }

  #reloads(): number {
    return this.#dev()?.lines.filter((line) => line.startsWith("Reloaded in")).length ?? 0;
  }

  async #run(line: string, output: string): Promise<void> {
    const [, exported, value = ""] = /^(?:export )?(\w+)=(\$\([\s\S]*\)|\S*)$/.exec(line) ?? [];
    const [, folder] = /^cd (\S+)$/.exec(line) ?? [];
    const [, signal, number, waited] = /^kill(?: -(\w+))? %(\d+|%) && wait(?: %(\d+))?$/.exec(line) ?? [];
    let printed = "";
    if (exported !== undefined) this.#env[exported] = (await this.#shell(`printf %s ${value}`)).trim();
    else if (folder !== undefined) this.#cwd = join(this.#cwd, folder);
    else if (number !== undefined) {
      await this.#kill(number === "%" ? (this.#jobs.at(-1)?.number ?? 0) : Number(number), signal);
      if (waited !== number && this.#jobs.length > 0) throw new Error(`${line} waits for other jobs, which still run`);
    } else if (line.endsWith(" &")) await this.#start(line.slice(0, -2));
    else printed = await this.#shell(line, output);
    const [expected = ""] = output.split(/^\^C$/m);
    expect(
      shown(expected).test(normalised(printed)),
      `${line}\nprints\n${printed}\nand the page shows\n${expected}`,
    ).to.equal(true);
  }

  async #kill(number: number, signal = "TERM"): Promise<void> {
    const job = this.#jobs.find((candidate) => candidate.number === number);
    if (job === undefined) throw new Error(`the page kills %${number}, which is not running`);
    job.program.signal(signal === "9" ? "SIGKILL" : (`SIG${signal.replace(/^SIG/, "")}` as NodeJS.Signals));
    await job.program.ended;
    this.#jobs = this.#jobs.filter((other) => other !== job);
  }

  async #start(line: string): Promise<void> {
    const [, { flags, ready, port }] = SERVED.find(([pattern]) => pattern.test(line)) ?? [
      undefined,
      { flags: "", ready: /./ },
    ];
    // The port in the page may be in use on this machine, so the server gets a free one.
    const [given, asked] = / (?:--(?:secure-)?port[= ]|(?<=^node \S+ ))(\d+)/.exec(line) ?? [];
    const command = `exec ${this.#withPorts(given === undefined ? line : line.replace(given, ""))} ${flags}`;
    const program = new Program("sh", ["-c", command], { ...this.#env, cwd: this.#cwd });
    this.#started.push(program);
    this.#jobs.push({ line, program, number: Math.max(0, ...this.#jobs.map((job) => job.number)) + 1 });
    const [, serves] = await program.until(line, () => ready.exec(program.lines.join("\n")) ?? undefined, 60_000);
    if (port !== undefined && serves !== undefined) this.#ports.set(Number(asked ?? port), serves);
  }

  #withPorts(line: string): string {
    return line.replace(/(?<=127\.0\.0\.1:)(\d+)/g, (port) => this.#ports.get(Number(port)) ?? port);
  }

  /** Runs a command until it exits. If the page shows `^C`, runs it until it has written as many lines as the page shows. */
  async #shell(line: string, output = ""): Promise<string> {
    const [before, interrupted] = output.split(/^\^C$/m);
    const most = interrupted === undefined ? Number.POSITIVE_INFINITY : (before ?? "").trim().split("\n").length;
    const child = spawn(
      "bash",
      ["-c", `exec 2>&1\n${interrupted === undefined ? "" : "exec "}${this.#withPorts(line)}`],
      {
        cwd: this.#cwd,
        env: this.#env,
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.split("\n").length > most) child.kill("SIGINT");
    });
    await once(child, "close");
    return interrupted === undefined ? text : text.split("\n").slice(0, most).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#started.reverse()) await program[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}
