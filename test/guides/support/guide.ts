// Why: a guide whose listings do not run misleads more than none. Every listing of these guides is type-checked, and served
// or run unchanged. The commands below it run with the installed kubectl and curl.
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { CHILD_ENV } from "../../_support/child-env.ts";
import { ALICE, type KubeconfigHome, kubeconfigHome, startTls } from "../../_support/server.ts";
import { Dev } from "../../cli/support/dev.ts";
import { Start } from "../../cli/support/start.ts";
import { Serve } from "../../cli/support/views-of-workspaces.ts";
import { Program } from "../../go/support/program.ts";
import { VirtualWorkspaces } from "../../go/support/virtual-workspaces.ts";
import { Ports } from "./ports.ts";
import { isSession, Session, sectionsOf } from "./session.ts";

const run = promisify(execFile);

export interface Listing {
  readonly title: string;
  readonly module: string;
  /** More files, whose first lines name them: `# mapping.yaml`. */
  readonly files: Readonly<Record<string, string>>;
  readonly commands: readonly Command[];
}

interface Command {
  /** Command line for a shell. */
  readonly line: string;
  readonly output: string;
}

export function listings(markdown: string): Listing[] {
  const pattern = /^## (.+)$|^```(ts|console|yaml)\n([\s\S]*?)^```$/gm;
  const found: Listing[] = [];
  let title = "";
  let module = "";
  let files: Record<string, string> = {};
  let continued = false;
  for (const [, heading, language, text = ""] of markdown.matchAll(pattern)) {
    const [, file] = /^# (\S+\.yaml)\n/.exec(text) ?? [];
    if (heading !== undefined || language === "ts") continued = false;
    if (heading !== undefined) title = heading;
    else if (language === "ts") module = text;
    else if (language === "console") {
      const more = commands(text);
      // A block continues the one before, unless it starts a server.
      const last = continued && more[0]?.line.endsWith(" &") === false ? found.pop() : undefined;
      found.push({ title, module, files, commands: [...(last?.commands ?? []), ...more] });
      continued = true;
    } else if (file !== undefined) files = { ...files, [file]: text };
  }
  return found;
}

function commands(text: string): Command[] {
  const blocks = text.split(/^\$ /m).slice(1);
  return blocks.map((block) => {
    const [line = "", ...output] = block.split("\n");
    return { line, output: output.join("\n") };
  });
}

/** Values that change between runs; columns are as wide as their widest cell. */
const CHANGING: Readonly<Record<string, string>> = {
  "<age>": "\\d+[smh]",
  "<seconds>": "[\\d.]+",
  "<number>": "\\d+",
  "<text>": ".*",
};

function normalised(text: string): string {
  return text
    .replace(/[ \t]+/g, " ")
    .replace(/ $/gm, "")
    .trim();
}

function expected(output: string): RegExp {
  const literal = normalised(output).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replace(/<\w+>/g, (name) => CHANGING[name] ?? name)}$`);
}

/** Environment of a listing's commands: a folder like that of `dev`, with the programs of this clone on the path. */
function terminal(folder: Tree, home?: KubeconfigHome): NodeJS.ProcessEnv {
  const bin = join(folder.path, "bin");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "node"),
    `#!/bin/sh\nexec "${process.execPath}" --conditions=@virtual-workspaces/source "$@"\n`,
  );
  writeFileSync(join(bin, "virtual-workspaces"), `#!/bin/sh\nexec node "${root}/packages/cli/src/bin.ts" "$@"\n`);
  for (const name of ["node", "virtual-workspaces"]) chmodSync(join(bin, name), 0o755);
  return {
    ...CHILD_ENV,
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: folder.path,
    KUBECONFIG: home?.kubeconfig,
    TOKEN: ALICE.token,
  };
}

/** Returns the output of a command, or its error output. */
async function shell(
  line: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<string> {
  try {
    return (await run("sh", ["-c", line.replace(/=(\{[^'"]*\})/g, "='$1'")], options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

async function check(
  commands: readonly Command[],
  at: { folder: Tree; home?: KubeconfigHome; port?: number },
): Promise<void> {
  const env = terminal(at.folder, at.home);
  for (const { line, output } of commands) {
    const printed = await shell(line.replace("127.0.0.1:6444", `127.0.0.1:${at.port}`), { env, cwd: at.folder.path });
    expect(normalised(printed), line).to.match(expected(output));
  }
}

/** Serves a listing with `dev` whenever a command does so, until another command kills it. */
async function devAndCheck(folder: Tree, commands: readonly Command[]): Promise<void> {
  const state = ".virtual-workspaces";
  const kubeconfig = join(folder.path, state, "admin.kubeconfig");
  const env = { ...terminal(folder), KUBECONFIG: kubeconfig };
  await using stack = new AsyncDisposableStack();
  let dev: Dev | undefined;
  for (const { line, output } of commands) {
    const [, flags] = /^virtual-workspaces dev \.\/view\.ts (.*) &$/.exec(line) ?? [];
    let printed = "";
    if (line === "kill %% && wait") await dev?.end("SIGTERM");
    else if (line === "kill -9 %% && wait") await dev?.end("SIGKILL");
    else if (flags === undefined) printed = await shell(line, { env, cwd: folder.path });
    else {
      const options = { in: folder.path, paths: ["view.ts"], state, flags: ["--port", "0", ...flags.split(" ")] };
      dev = stack.use(await Dev.start(options));
    }
    expect(normalised(printed), line).to.match(expected(output));
  }
}

/** Program of the guide itself, which prints a line when it is ready. */
const PROGRAM = /^node ([\w-]+\.ts) &$/;

/** Starts a workspace server whenever a command does so, until another command ends it. */
async function startAndCheck(folder: Tree, commands: readonly Command[]): Promise<void> {
  const inTerminal = terminal(folder);
  const env = {
    ...inTerminal,
    KUBECONFIG: join(folder.path, ".kcp/admin.kubeconfig"),
    PATH: `${join(folder.path, ".kcp/bin")}:${inTerminal["PATH"]}`, // the second line of the listing says so
  };
  await using stack = new AsyncDisposableStack();
  let server: Start | undefined;
  const ports = new Ports();
  for (const { line, output } of commands) {
    const [, served = "serve", servedFlags] = /^virtual-workspaces (?:(serve|front-proxy) )?(--.*) &$/.exec(line) ?? [];
    const [, flags] = /^virtual-workspaces start ?(.*) &$/.exec(line) ?? [];
    const [, agent] = /^virtual-workspaces (agent --.*) &$/.exec(line) ?? [];
    const [, signal] = /^kill(?: -(9))? %% && wait$/.exec(line) ?? [];
    const [, program] = PROGRAM.exec(line) ?? [];
    let printed = "";
    if (program !== undefined) {
      const args = ["--conditions=@virtual-workspaces/source", program];
      const running = stack.use(
        new Program(localNode, args, {
          HOME: folder.path,
          KUBECONFIG: env.KUBECONFIG,
          PATH: env.PATH,
          cwd: folder.path,
        }),
      );
      printed = await running.until("a line", () => running.lines[0], 30_000);
    } else if (flags !== undefined) {
      const words = flags.split(" ").filter((flag) => flag !== "");
      const { flags: given, own } = await ports.of("start", words);
      const inFolder = given.map((flag) =>
        flag.replace(/=([\w-]+\.(?:crt|csv|log|ts|yaml))$/, `=${join(folder.path, "$1")}`),
      );
      // Its shards have ports beside its own, which must be free too.
      server = stack.use(await Start.ready({ in: folder.path, root: ".kcp", flags: inFolder }));
      ports.moved(own, Number(new URL(server.url).port));
    } else if (agent !== undefined) {
      const inFolder = agent
        .split(" ")
        .map((flag) => flag.replace(/=([\w-]+\.[a-z]+)$/, `=${join(folder.path, "$1")}`));
      stack.use(new VirtualWorkspaces(inFolder, { HOME: folder.path, KUBECONFIG: env.KUBECONFIG }));
    } else if (servedFlags !== undefined) {
      const { flags: given, port } = await ports.of(served as "serve" | "front-proxy", servedFlags.split(" "));
      const inFolder = given.map((flag) => flag.replace(/=([\w./-]+\.[a-z]+)$/, `=${join(folder.path, "$1")}`));
      const at = ["--bind-address=127.0.0.1", `--secure-port=${port}`];
      stack.use(await Serve.ready([served, ...inFolder, ...at], folder.path));
    } else if (line.startsWith("kill ")) {
      await server?.end(signal === undefined ? "SIGTERM" : "SIGKILL");
      ports.release();
    } else printed = await shell(ports.in(line), { env, cwd: folder.path });
    expect(normalised(printed), line).to.match(expected(output));
  }
}

/** Serves a listing's view under the name in the commands, and runs them. */
async function serveAndCheck(folder: Tree, commands: readonly Command[]): Promise<void> {
  const { default: view } = (await import(pathToFileURL(join(folder.path, "view.ts")).href)) as {
    default: VirtualWorkspace;
  };
  await using server = await startTls([view]);
  const path = `${view.prefix ?? `/services/${view.name}`}${view.path.replace(":cluster", "root").replace(":owner", "ann")}`;
  const { authority, port } = server;
  const admin = authority.client("admin", []);
  const files = { "ca.crt": authority.ca, "admin.crt": admin.cert, "admin.key": admin.key };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  using home = await kubeconfigHome({ authority, port, contexts: { view: path }, user: "alice", namespace: "default" });
  await check(commands, { folder, home, port });
}

/** Defines the tests of these guides, by name: docs/<name>.md. */
export function guideTests(...names: readonly string[]): void {
  for (const name of names)
    describe(`docs/${name}.md`, () => {
      const text = readFileSync(join(root, `docs/${name}.md`), "utf8");
      if (isSession(text)) {
        sessionTests(text);
        return;
      }
      const found = listings(text);

      it("has listings followed by commands", () => {
        expect(found.map(({ commands }) => commands.length))
          .to.have.length.above(1)
          .and.not.include(0);
      });

      for (const listing of found) it(listing.title, () => checkListing(listing)).timeout(90_000);
    });
}

/** Defines a test for each section of a page that is one session from top to bottom. */
function sessionTests(text: string): void {
  const sections = sectionsOf(text);
  let session: Session | undefined;
  before(async () => {
    // A page may read the console.
    await ensureConsole();
    session = new Session();
  });
  after(() => session?.[Symbol.asyncDispose]());

  it("has commands", () => {
    expect(sections.flatMap(({ steps }) => steps.filter(({ kind }) => kind === "command"))).to.have.length.above(1);
  });

  let failed = false;
  for (const { title, steps } of sections)
    it(title, async function () {
      // Steps after a failed one would fail for the same reason.
      if (failed) this.skip();
      failed = true;
      for (const step of steps) await session?.follow(step);
      failed = false;
    }).timeout(90_000);
}

async function checkListing({ module, files, commands }: Listing): Promise<void> {
  const script = commands[0]?.line === "node check.ts";
  const started = commands.some(({ line }) => line.startsWith("virtual-workspaces start") || PROGRAM.test(line));
  const served = commands[0]?.line.startsWith("virtual-workspaces dev ");
  const [, named = script ? "check.ts" : "view.ts"] = /^\/\/ (\S+\.ts)\n/.exec(module) ?? [];
  using folder = tree({ [named]: module, ...files });
  symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
  if (started) await startAndCheck(folder, commands);
  else if (served) await devAndCheck(folder, commands);
  else await (script ? check(commands, { folder }) : serveAndCheck(folder, commands));
}
