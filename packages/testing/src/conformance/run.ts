import { CheckSkipped, excerpt, expectJson } from "../assertions/expect.ts";
import { textAt } from "../assertions/json.ts";
import { countOf, limited, type Task as Performed, perform, type Slots } from "../assertions/perform.ts";
import {
  type CheckResult,
  type ConformanceReport,
  type ConformanceResource,
  resourceName,
} from "../assertions/report.ts";
import { checks } from "../checks/all.ts";
import { type Check, type ResourceCheck, ResourceProbe } from "../checks/check.ts";
import { TransportError } from "../http/answer.ts";
import { HttpClient } from "../http/client.ts";
import { anonymous, identifies } from "../http/credentials.ts";
import type { ConformanceOptions } from "../probe/options.ts";
import { checkable, readReadable } from "../probe/read-discovery.ts";
import { ServerProbe, type ServerProbeOptions } from "../probe/server-probe.ts";
import { Users } from "../probe/users.ts";
import { cleanUp, namesLeft } from "../writing/clean-up.ts";
import { newRun } from "../writing/writer.ts";
import { ForeignWrites } from "./foreign-writes.ts";
import { Reachability } from "./reachability.ts";

/** Maximum number of concurrent checks, and of resources that are seeded or cleaned up, so that the server is not overloaded. */
const AT_ONCE = 12;
/** Objects created for checks of reads, when the run may write: most checks need one, some two. */
const SEEDED = 3;

/**
 * Checks any Kubernetes-style API server at a URL by what its clients see. The run only reads, unless {@link
 * ConformanceOptions.writes} or {@link ConformanceOptions.mutate} is given.
 *
 * A server that cannot be reached, or stops answering, ends the run early: {@link ConformanceReport.unreachable} is the
 * reason. While the run writes, no other client may write the same resources. A check that fails after a write of another
 * client is `disturbed`, not `failed`.
 *
 * @throws TypeError for an invalid URL; the reason of `signal` once it aborts
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const { url, credentials = {}, others = [], deadlines = {}, mutate } = options;
  const { signal: ended = new AbortController().signal } = options;
  const startedAt = performance.now();
  const limits = { answer: 15_000, prompt: 1_000, ...deadlines };
  const server = { url, timeout: limits.answer };
  using reachability = new Reachability({ ...server, credentials, signal: ended });
  const signal = AbortSignal.any([ended, reachability.signal]);
  const connecting = { ...server, signal };
  await reachability.check();
  ended.throwIfAborted();
  using client = new HttpClient({ ...connecting, credentials });
  using users = new Users({ ...connecting, credentials, others });
  const discovery = await readReadable(client);
  const resources = checkable(discovery.resources).filter(options.resources ?? (() => true));
  const identified = identifies(credentials);
  const common = { client, discovery, resources, deadlines: limits, documents: new Map(), identified, users };
  const slots = limited(AT_ONCE);
  const { patchOnly } = options.writes ?? {};
  using patcher = new HttpClient({ ...connecting, credentials: { ...anonymous(credentials), ...patchOnly } });
  const writes = options.writes && {
    options: options.writes,
    run: options.writes.run ?? newRun(),
    patchOnly: patchOnly && patcher,
  };
  const probes = resources.map((resource) => new ResourceProbe({ ...common, resource, mutate, writes }));
  let results: readonly CheckResult[];
  let left: readonly string[];
  try {
    await using stack = new AsyncDisposableStack();
    const monitors = new Map<string, ForeignWrites>();
    for (const probe of writes === undefined ? [] : probes) {
      const monitor = new ForeignWrites(probe, {
        client: new HttpClient({ ...connecting, credentials }),
        run: writes?.run ?? "",
      });
      monitors.set(probe.name, stack.use(monitor));
    }
    await Promise.all([...monitors.values()].map((monitor) => slots(() => monitor.start())));
    await Promise.all(probes.map(({ writer }) => slots(async () => writer?.seed(SEEDED))));
    results = await runAll(common, probes, { ...options, slots, reachability, monitors });
  } finally {
    left =
      reachability.reason === undefined
        ? await cleanUp(probes, { url, credentials, timeout: limits.answer, slots: limited(AT_ONCE) })
        : namesLeft(probes);
  }
  ended.throwIfAborted();
  return {
    url,
    serverVersion: await serverVersion(client),
    resources: resources.map(resourceName),
    results,
    ...countOf(results),
    left,
    ...(reachability.reason === undefined ? {} : { unreachable: reachability.reason }),
    duration: Math.round(performance.now() - startedAt),
  };
}

/** Check with the resource that it runs on. */
interface Task extends Performed {
  readonly check: Check;
  readonly on: ConformanceResource | undefined;
}

interface Running extends ConformanceOptions {
  readonly slots: Slots;
  readonly reachability: Reachability;
  /** By name of the resource, when the run writes. */
  readonly monitors: ReadonlyMap<string, ForeignWrites>;
}

/** Runs checks that only read concurrently, then those that change objects, one after the other for each resource. */
async function runAll(
  common: ServerProbeOptions,
  probes: readonly ResourceProbe[],
  { slots, reachability, monitors, ...options }: Running,
): Promise<readonly CheckResult[]> {
  const server = new ServerProbe(common);
  const results = new Map<Task, CheckResult>();
  const done = async (task: Task): Promise<void> => {
    const result = await slots(() => judged(task, { monitors, reachability, strict: options.strict ?? false }));
    options.signal?.throwIfAborted();
    if (result === undefined) return;
    options.onResult?.(result);
    results.set(task, result);
  };
  const wanted = options.checks === undefined ? checks : checks.filter(({ id }) => options.checks?.(id));
  const problems = await Promise.all(probes.map((probe) => slots(() => problemOf(probe))));
  const tasks = wanted.flatMap((check): Task[] =>
    check.scope === "server"
      ? [{ check, on: undefined, resource: undefined, run: () => check.run(server) }]
      : probes.map((probe, index) => taskOf(check, probe, problems[index])),
  );
  const isReading = ({ check }: Task): boolean =>
    check.scope === "server" || (check.mutates !== true && check.writes !== true);
  await Promise.all(tasks.filter(isReading).map(done));
  const writing = Map.groupBy(
    tasks.filter((task) => !isReading(task)),
    ({ on }) => on,
  );
  await Promise.all(
    Array.from(writing.values(), async (own) => {
      for (const task of own) await done(task);
    }),
  );
  return tasks.flatMap((task) => results.get(task) ?? []);
}

/** Runs a check, and finds out whose fault a failure is. Returns `undefined` once the server is gone. */
async function judged(
  task: Task,
  { monitors, reachability, strict = false }: Pick<Running, "monitors" | "reachability" | "strict">,
): Promise<CheckResult | undefined> {
  if (reachability.reason !== undefined) return undefined;
  const startedAt = performance.now();
  const result = await perform(task, { strict });
  if (result.outcome === "failed") await reachability.check();
  if (reachability.reason !== undefined) return undefined;
  if (result.outcome !== "failed") return result;
  const foreign = await monitors.get(task.resource ?? "")?.since(startedAt);
  if (foreign === undefined) return result;
  const reason = `another client wrote ${foreign}: repeat the check while no other client writes`;
  return { ...result, outcome: "disturbed", reason };
}

function taskOf(check: ResourceCheck, probe: ResourceProbe, problem: string | undefined): Task {
  const { resource } = probe;
  const missing = check.verbs.filter((verb) => !resource.verbs.includes(verb));
  const run = async (): Promise<void> => {
    if (check.writes === true && probe.writer === undefined)
      throw new CheckSkipped("it writes objects, and the run only reads");
    if (missing.length > 0) throw new CheckSkipped(`the resource lacks the verb ${missing.join(", ")}`);
    if (problem !== undefined && check.evenUnlistable !== true) throw new CheckSkipped(problem);
    if (check.mutates === true && probe.mutations === undefined)
      throw new CheckSkipped("it changes objects, and the run only reads");
    await check.run(probe);
  };
  return { check, on: resource, resource: resourceName(resource), run };
}

/** Returns why a resource cannot be checked at all. T7.5 decides whether that is a fault. */
async function problemOf(probe: ResourceProbe): Promise<string | undefined> {
  if (!probe.resource.verbs.includes("list")) return undefined;
  try {
    const answer = await probe.answer({ limit: 1 });
    return answer.status === 200 ? undefined : `its list fails: ${excerpt(answer)}`;
  } catch (error) {
    if (error instanceof TransportError) return `its list fails: ${error.reason}`;
    throw error;
  }
}

async function serverVersion(client: HttpClient): Promise<string> {
  try {
    return textAt(expectJson(await client.call("/version")), "gitVersion");
  } catch {
    return "";
  }
}
