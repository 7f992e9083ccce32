import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type CertifiedSubject, generatedTls } from "@virtual-workspaces/framework/tls";
import { readFlags } from "../flags/read.ts";
import { UsageError } from "../process/failure.ts";
import { readIfThere } from "../process/files.ts";
import { acquire } from "../process/lock.ts";
import { type StoreChoice, storeChoice } from "../server/store-choice.ts";
import { DevConsole } from "./dev-console.ts";
import { ADMIN, GUEST, usersOf } from "./dev-kubeconfig.ts";
import { DEV } from "./flags.ts";
import { Port } from "./port.ts";
import { Publication } from "./publication.ts";
import { Supervisor } from "./supervisor.ts";

interface DevOptions {
  /** Absolute paths of files and folders. */
  readonly paths: readonly string[];
  /** Absolute path of the state folder. */
  readonly dir: string;
  /** First port to try, 0 for any free one. */
  readonly port: number;
  readonly quiet: boolean;
  /** Further users. */
  readonly users: readonly CertifiedSubject[];
  readonly store: StoreChoice;
  readonly hasConsole: boolean;
}

/** Number of ports to try. */
const PORTS = 100;

/** Runs `virtual-workspaces dev`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { paths, dir, port: wanted, quiet, users, store, hasConsole } = devOptions(args);
  const stopped = untilStopped();
  prepare(dir);
  using lock = acquire(dir);
  // The first start creates them while the modules load.
  const credentials = generatedTls({ dir: resolve(dir), users: [ADMIN, GUEST, ...users] });
  const page = hasConsole ? new DevConsole(dir, [ADMIN, GUEST, ...users]) : undefined;
  let publication: Publication | undefined;
  await using supervisor = new Supervisor({
    paths,
    site: credentials.then(({ tls, ca }) => ({ tls, ca, quiet, store, console: page?.site })),
    console: page,
    onReload: ({ loaded, file, seconds }) => {
      const news = publication?.reloaded(loaded) ?? "";
      console.log(`Reloaded in ${seconds.toFixed(2)} s: ${basename(file)} changed${news}`);
    },
    onProblem: (problem) => console.error(problem),
  });
  using port = await Port.open(portsFrom(wanted));
  const loaded = await Promise.race([supervisor.start(port), stopped]);
  if (loaded === undefined) return 0;
  const url = `https://127.0.0.1:${port.number}`;
  lock.serves(url);
  publication = new Publication(loaded, { url, dir, credentials: await credentials, store, console: page });
  if (wanted !== 0 && port.number !== wanted) console.log(`Port ${wanted} is taken: using ${port.number}.`);
  console.log(publication.ready(performance.now() / 1000));
  await stopped;
  return 0;
}

/** Reads the flags. @throws UsageError */
function devOptions(args: readonly string[]): DevOptions {
  const { values, words } = readFlags(args, DEV);
  if (words.length === 0)
    throw new UsageError(
      "no module given: name one with a view, or a folder of them, as in virtual-workspaces dev ./view.ts",
    );
  const missing = words.find((path) => !existsSync(path));
  if (missing !== undefined) throw new UsageError(`file or folder ${missing} does not exist in ${process.cwd()}`);
  return {
    paths: words.map((path) => resolve(path)),
    dir: values.dir,
    port: portOf(values.port),
    quiet: values.quiet,
    users: usersOf(values.user ?? []),
    store: storeChoice(values, process.env),
    hasConsole: values.console,
  };
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new UsageError(`invalid value "${text}" for --port: use a number from 1 to 65535, or 0 for any free port`);
  return port;
}

/** Creates the folder. Security: it holds keys, so only its owner has access, and git ignores it. */
function prepare(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const ignore = join(dir, ".gitignore");
  if (readIfThere(ignore) === undefined) writeFileSync(ignore, "*\n");
}

function portsFrom(first: number): readonly number[] {
  if (first === 0) return [0];
  return Array.from({ length: PORTS }, (_, at) => first + at).filter((port) => port <= 65_535);
}

/** Resolves at the first SIGINT or SIGTERM. Ignores further ones: the shutdown takes at most a second. */
function untilStopped(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve(undefined));
  });
}
