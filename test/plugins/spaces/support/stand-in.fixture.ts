// Stand-in for kind and k3d: the parts of their command lines, output and errors that are in use, with workspace servers as clusters.
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { serverIn } from "./server-in.ts";

const [tool = "", ...args] = process.argv.slice(2);
const STATE = process.env["STAND_IN"] ?? "";
const CLUSTERS = join(STATE, "clusters");

/** Configured faults by command. */
const faults = JSON.parse(readOr(join(STATE, "faults.json"), "{}")) as Readonly<Record<string, string>>;
const asked = args.slice(0, 2).join(" ");
mkdirSync(CLUSTERS, { recursive: true });
appendFileSync(join(STATE, "calls"), `${[tool, ...args].join(" ")}\n`);

const DOCKER = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?";

// The user's own kubeconfig is neither read nor written.
const own = process.env["KUBECONFIG"] ?? "";
if (own === "" || existsSync(own)) fail(`it would write ${own}`);
await misbehave(faults[asked] ?? "");
if (tool === "kind") await kind();
else await k3d();

async function kind(): Promise<void> {
  const name = flagOf("--name");
  if (asked === "get clusters") {
    if (clusters().length === 0) console.error("No kind clusters found.");
    for (const cluster of clusters()) console.log(cluster);
  } else if (asked === "get kubeconfig") {
    if (!clusters().includes(name))
      fail(
        `ERROR: could not locate any control plane nodes for cluster named '${name}'. Use the --name option to select a different cluster`,
      );
    const internal = args.includes("--internal") ? `https://${name}-control-plane:6443` : undefined;
    const text = await kubeconfigOf(name, { context: `kind-${name}`, server: internal });
    console.log(
      text ??
        fail(
          `ERROR: failed to get cluster internal kubeconfig: command "docker exec --privileged ${name}-control-plane cat /etc/kubernetes/admin.conf" failed with error: exit status 1\n\nCommand Output: cat: /etc/kubernetes/admin.conf: No such file or directory`,
        ),
    );
  } else if (asked === "create cluster") {
    if (clusters().includes(name))
      fail(`ERROR: failed to create cluster: node(s) already exist for a cluster with the name "${name}"`);
    console.error(`Creating cluster "${name}" ...`);
    await make(name);
    writeFileSync(flagOf("--kubeconfig"), (await kubeconfigOf(name, { context: `kind-${name}` })) ?? "", {
      flag: "wx",
    });
  } else if (asked === "delete cluster") {
    console.error(`Deleting cluster "${name}" ...`);
    writeFileSync(`${flagOf("--kubeconfig")}.lock`, "", { flag: "wx" });
    await remove(name);
  } else fail(`ERROR: unknown command "${asked}" for "kind"`);
}

async function k3d(): Promise<void> {
  const [, , name = ""] = args;
  if (args.join(" ") === "cluster list -o json") {
    const env = ["K3S_TOKEN=of-the-nodes"];
    console.log(
      JSON.stringify(
        clusters().map((one) => ({
          name: one,
          nodes: [{ name: `k3d-${one}-server-0`, env }],
          serversRunning: 1,
          serversCount: 1,
          agentsRunning: 0,
          agentsCount: 0,
        })),
      ),
    );
  } else if (asked === "kubeconfig get") {
    if (!clusters().includes(name)) fail("\u001b[31mFATA\u001b[0m[0000] No nodes found for given cluster");
    console.log("---");
    console.log(
      (await kubeconfigOf(name, { context: `k3d-${name}` })) ??
        fail(`ERRO[0000] failed to get kubeconfig for cluster '${name}'`),
    );
  } else if (asked === "cluster create") {
    for (const flag of ["--kubeconfig-update-default=false", "--kubeconfig-switch-context=false", "--wait"])
      if (!args.includes(flag)) fail(`FATA[0000] without ${flag} it would write the kubeconfig of whoever runs it`);
    if (clusters().includes(name))
      fail(`FATA[0000] Failed to create cluster '${name}' because a cluster with that name already exists`);
    console.log("INFO[0000] Prep: Network");
    await make(name);
  } else if (asked === "cluster delete") {
    if (!clusters().includes(name)) console.log(`INFO[0000] No nodes found for cluster '${name}', nothing to delete.`);
    await remove(name);
  } else fail(`FATA[0000] unknown command "${asked}" for "k3d"`);
}

async function misbehave(how: string): Promise<void> {
  if (how === "docker" && tool === "kind")
    fail(
      `ERROR: failed to list clusters: command "docker ps -a" failed with error: exit status 1\n\nCommand Output: ${DOCKER}`,
    );
  if (how === "docker")
    fail(`\u001b[31mFATA\u001b[0m[0000] runtime failed to list nodes: docker failed to get containers: ${DOCKER} `);
  if (how === "fail") fail(`\u001b[31mERROR\u001b[0m: ${"no room for that, ".repeat(100)}`);
  if (how === "quiet") process.exit(4);
  if (how === "rubbish") print("<html>secret</html>\n");
  if (how === "flood") print(`${"x".repeat(1023)}\n`.repeat(5 * 1024));
  if (how === "half") {
    mkdirSync(join(CLUSTERS, flagOf("--name")));
    fail("ERROR: failed to create cluster: failed to init node with kubeadm");
  }
  if (how === "hang") {
    // The child process keeps the output open.
    const { pid } = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1e6)"], { stdio: "inherit" });
    writeFileSync(join(STATE, "hanging"), `${process.pid} ${pid}`);
    await new Promise(() => setInterval(() => undefined, 1e6));
  }
}

function print(text: string): never {
  writeFileSync(1, text);
  process.exit(0);
}

/** A cluster is listed as soon as its first container exists. */
async function make(name: string): Promise<void> {
  const folder = join(CLUSTERS, name);
  mkdirSync(folder);
  if (faults["hold"] === name) await appears(join(STATE, "go"));
  const server = join(folder, "server");
  const [program, ...rest] = serverIn(server);
  const log = openSync(join(folder, "log"), "a");
  const child = spawn(program, rest, { detached: true, stdio: ["ignore", log, log] });
  child.unref();
  writeFileSync(join(folder, "pid"), String(child.pid));
  await appears(join(server, "admin.kubeconfig"));
}

async function appears(file: string): Promise<void> {
  while (!existsSync(file)) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const parent = join(file, "..");
    const watcher = watch(existsSync(parent) ? parent : join(parent, ".."), () => resolve());
    if (!existsSync(file)) await promise;
    watcher.close();
  }
}

async function remove(name: string): Promise<void> {
  const pid = Number(readOr(join(CLUSTERS, name, "pid"), "0"));
  if (pid > 0) process.kill(pid, "SIGKILL");
  rmSync(join(CLUSTERS, name), { recursive: true, force: true });
}

/** Like kubeadm's: with a client certificate of an administrator. */
async function kubeconfigOf(
  name: string,
  { context, server }: { context: string; server?: string | undefined },
): Promise<string | undefined> {
  const folder = join(CLUSTERS, name, "server");
  const text = readOr(join(folder, "admin.kubeconfig"), "");
  if (text === "") return undefined;
  const { parse } = await import("yaml");
  const said = parse(text) as {
    clusters: { name: string; cluster: { server: string; "certificate-authority-data": string } }[];
  };
  const found = said.clusters.find((one) => one.name === "root")?.cluster;
  const { cert, key } = await administrator(folder);
  const [certificate, secret] = [cert, key].map((pem) => Buffer.from(pem).toString("base64"));
  const user =
    faults["credential"] === "exec"
      ? {
          exec: {
            command: "touch",
            args: [join(STATE, "touched")],
            apiVersion: "client.authentication.k8s.io/v1",
            interactiveMode: "Never",
          },
        }
      : { "client-certificate-data": certificate, "client-key-data": secret };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": context,
    clusters: [{ name: context, cluster: { ...found, ...(server !== undefined && { server }) } }],
    contexts: [{ name: context, context: { cluster: context, user: context } }],
    users: [{ name: context, user }],
  });
}

/** The same certificate each time, like the real tools. */
async function administrator(folder: string): Promise<{ readonly cert: string; readonly key: string }> {
  const file = join(folder, "administrator.json");
  if (!existsSync(file)) {
    const { issueCertificate } = await import("@virtual-workspaces/framework/tls");
    const subject = { name: "kubernetes-admin", groups: ["system:kcp:admin"] };
    const authority = {
      cert: readFileSync(join(folder, "client-ca.crt"), "utf8"),
      key: readFileSync(join(folder, "client-ca.key"), "utf8"),
    };
    const { cert, key } = await issueCertificate({ subject, purpose: { kind: "client" }, now: new Date() }, authority);
    writeFileSync(file, JSON.stringify({ cert, key }));
  }
  return JSON.parse(readFileSync(file, "utf8"));
}

function clusters(): readonly string[] {
  return readdirSync(CLUSTERS).sort();
}

function flagOf(flag: string): string {
  return args[args.indexOf(flag) + 1] ?? "";
}

function readOr(file: string, otherwise: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : otherwise;
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
