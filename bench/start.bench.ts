// From `npm start`, `virtual-workspaces start` and `npm run dev` to the first answer that kubectl gets, and what importing the framework costs
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../tools/install.mjs";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { median } from "./_harness/statistics.ts";

const isShort = process.argv.includes("--short");
const [RUNS, STARTS] = isShort ? [1, 1] : [5, 3];
const SOURCE = "--conditions=@virtual-workspaces/source";
const BIN = join(root, "packages/cli/src/bin.ts");
/** What must not be loaded by a server that does not use it. */
const HEAVY = ["@kubernetes/client-node", "@marcbachmann/cel-js", "@peculiar/x509", "express", "jose", "re2js", "yaml"];

/** Tells which modules were loaded; costs time. */
const RECORDING = `
  import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => (modules.push(url), next(url, context)) });`;

const WAYS = { start, dev, serve, import: importing, npm: () => bare("npm"), node: () => bare("node") };

const folder = mkdtempSync(join(tmpdir(), "virtual-workspaces-bench-"));
/** Any free port, and the objects of the start before. */
const ANYWHERE = [
  ...["--root-directory", join(folder, "kcp"), "--bind-address=127.0.0.1"],
  ...["--secure-port=0", "--experimental-bind-free-port"],
];
const TYPES = { kubectl: "get workspacetypes -o name", finds: /^workspacetype.tenancy.kcp.io\/universal$/m };

try {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: { start: "node -e 0" } }));
  // The first of each fills the compile cache and makes the certificates.
  for (const first of [start, serve, dev, importing]) await first();
  const starts = await interleave(["start", "dev", "npm", "node"], STARTS, (name) => WAYS[name]());
  const serves = await interleave(["serve", "import"], STARTS, (name) => WAYS[name]());
  imported("");
  const imports = Array.from({ length: RUNS }, () => imported(""));
  const loaded = imported(RECORDING).modules;
  const heavy = HEAVY.filter((name) => loaded.some((url) => url.includes(`/node_modules/${name}/`)));
  assert.ok(
    loaded.some((url) => url.includes("/framework/src/server.ts")),
    "the framework was not imported",
  );
  for (const name of ["transport", "client"] as const) imported("", name); // fills the compile cache
  const rss = (name: Imported): number => median(Array.from({ length: RUNS }, () => imported("", name).rss)) / 2 ** 20;
  const ofClient = imported(RECORDING, "client").modules;
  const heavyOfClient = HEAVY.filter((name) => ofClient.some((url) => url.includes(`/node_modules/${name}/`)));
  assert.ok(
    ofClient.some((url) => url.includes("/client/src/client.ts")),
    "the client was not imported",
  );
  report("start", [
    figure({
      what: "npm start to the first kubectl answer",
      value: starts.of("start", "answer") / 1000,
      unit: "s",
      atMost: 1.5,
    }),
    figure({ what: "the same", value: starts.ratio(["start", "node"], "answer"), unit: "ratio", rival: "node -e 0" }),
    figure({
      what: "npm start until it is ready",
      value: starts.ratio(["start", "npm"], "ready"),
      unit: "ratio",
      rival: "npm start of node -e 0",
    }),
    figure({ what: "npm start until it is ready", value: starts.of("start", "ready") / 1000, unit: "s" }),
    figure({ what: "npm run dev to the first kubectl answer", value: starts.of("dev", "answer") / 1000, unit: "s" }),
    figure({ what: "npm start of node -e 0", value: starts.of("npm", "ready") / 1000, unit: "s" }),
    figure({ what: "node -e 0", value: starts.of("node", "ready") / 1000, unit: "s" }),
    figure({
      what: "virtual-workspaces start until it is ready",
      value: serves.ratio(["serve", "import"], "ready"),
      unit: "ratio",
      rival: "node that imports the same",
      atMost: 3,
    }),
    figure({ what: "the same", value: serves.of("serve", "ready") / 1000, unit: "s" }),
    figure({
      what: "virtual-workspaces start to the first kubectl answer",
      value: serves.of("serve", "answer") / 1000,
      unit: "s",
      atMost: 1.5,
    }),
    figure({ what: "import of the framework", value: median(imports.map(({ time }) => time)), unit: "ms" }),
    figure({
      what: "import of the framework, RSS over bare Node",
      value: median(imports.map(({ rss }) => rss)) / 2 ** 20,
      unit: "MiB",
    }),
    figure({ what: `of ${HEAVY.join(", ")} loaded by it`, value: heavy.length, unit: "count", exactly: 0 }),
    figure({
      what: "import of the client, RSS over that of the transport",
      value: rss("client") - rss("transport"),
      unit: "MiB",
      atMost: 10,
    }),
    figure({ what: "of the same loaded by the client", value: heavyOfClient.length, unit: "count", exactly: 0 }),
  ]);
} finally {
  rmSync(folder, { recursive: true });
}

/** How long after its start a server was ready, and when kubectl had its answer, ms. */
type Took = Readonly<Record<"ready" | "answer", number>>;

/** `npm start`, as a newcomer does. */
function start(): Promise<Took> {
  return served({ command: ["npm", "start", "--silent", "--", ...ANYWHERE], env: {}, ...TYPES });
}

/** `virtual-workspaces start`, as its user does. */
function serve(): Promise<Took> {
  const command = [process.execPath, SOURCE, BIN, "start", ...ANYWHERE];
  return served({ command, env: { NODE_COMPILE_CACHE: join(folder, "cache") }, ...TYPES });
}

/** `npm run dev`: the examples alone. */
function dev(): Promise<Took> {
  const command = ["npm", "run", "dev", "--silent", "--", "--port", "0", "--dir", join(folder, "dev")];
  return served({ command, env: {}, kubectl: "get quotes -o name", finds: /^quote\.example\.dev\/ssh$/m });
}

interface Serving {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly kubectl: string;
  /** In what kubectl says. */
  readonly finds: RegExp;
}

/** Starts a server, asks it with kubectl, and stops it. */
async function served({ command: [program = "", ...args], env, kubectl, finds }: Serving): Promise<Took> {
  const began = performance.now();
  const options = { cwd: root, detached: true, env: { ...process.env, ...env } };
  const server = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "ignore"] });
  const over = once(server, "exit");
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const kubeconfig = /^export KUBECONFIG=(.*)$/.exec(line)?.[1];
      if (kubeconfig === undefined) continue;
      const ready = performance.now() - began;
      const asking = { ...process.env, KUBECONFIG: kubeconfig, HOME: folder };
      const { stdout, stderr } = spawnSync("kubectl", kubectl.split(" "), { env: asking, encoding: "utf8" });
      assert.match(stdout, finds, stderr);
      return { ready, answer: performance.now() - began };
    }
    throw new Error(`${program} ${args[0]} ended before it was ready`);
  } finally {
    if (server.pid !== undefined) process.kill(-server.pid, "SIGINT");
    await over;
  }
}

/** Node that imports what the workspace server consists of, and does nothing. */
async function importing(): Promise<Took> {
  const began = performance.now();
  const script = `await import(${JSON.stringify(join(root, "packages/cli/src/start/serve-workspaces.ts"))})`;
  const args = [SOURCE, "--input-type=module", "-e", script];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "cache") };
  assert.equal(spawnSync(process.execPath, args, { cwd: root, env, stdio: "ignore" }).status, 0);
  const took = performance.now() - began;
  return { ready: took, answer: took };
}

type Imported = "framework" | "transport" | "client";

/** What a process of its own says of importing a package from source, with the compile cache. */
function imported(
  preparation: string,
  name: Imported = "framework",
): { readonly time: number; readonly rss: number; readonly modules: string[] } {
  const script = `
    const modules = [];
    ${preparation}
    const before = process.memoryUsage.rss();
    const began = performance.now();
    await import("@virtual-workspaces/${name}");
    console.log(JSON.stringify({ time: performance.now() - began, rss: process.memoryUsage.rss() - before, modules }));`;
  const args = [SOURCE, "--input-type=module", "-e", script];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "cache") };
  return JSON.parse(spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" }).stdout);
}

/** The parts that are not ours: npm with nothing to start, and Node with nothing to run, ms. */
async function bare(name: "npm" | "node"): Promise<Took> {
  const began = performance.now();
  const { status } =
    name === "npm"
      ? spawnSync("npm", ["--prefix", folder, "--silent", "start"])
      : spawnSync(process.execPath, ["-e", "0"]);
  assert.equal(status, 0);
  const took = performance.now() - began;
  return { ready: took, answer: took };
}
