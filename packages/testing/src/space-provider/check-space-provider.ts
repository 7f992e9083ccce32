import { randomUUID } from "node:crypto";
import { CheckSkipped } from "../assertions/expect.ts";
import { textAt } from "../assertions/json.ts";
import { countOf, limited, perform } from "../assertions/perform.ts";
import type { CheckResult, ConformanceReport } from "../assertions/report.ts";
import { HttpClient } from "../http/client.ts";
import { type Credentials, identifies } from "../http/credentials.ts";
import { watchChecks, writeChecks } from "./change-checks.ts";
import { itselfChecks, refusalChecks, strangerChecks } from "./provider-checks.ts";
import type { SpaceProviderCheckOptions, SpaceProviderDeadlines } from "./provider-options.ts";
import type { ProviderCheck } from "./provider-probe.ts";
import { ProviderProbe, type ProviderProbeOptions, untilGone } from "./provider-probe.ts";
import { Bodies, type ProtocolDocument } from "./space-bodies.ts";
import { kubeconfigChecks, listChecks } from "./space-checks.ts";

/** Maximum number of concurrent checks. */
const AT_ONCE = 6;
const DEADLINES: SpaceProviderDeadlines = { answer: 15_000, prompt: 2_000, heartbeat: 31_000, ready: 300_000 };

/** All checks, in order. */
const CHECKS: readonly ProviderCheck[] = [
  ...itselfChecks,
  ...listChecks,
  ...refusalChecks,
  ...strangerChecks,
  ...kubeconfigChecks,
  ...watchChecks,
  ...writeChecks,
];

/**
 * Checks whether a space provider in another process, in any language, conforms to `spaceProviderOpenAPI` of
 * `@virtual-workspaces/spaces`, so that a manager can use it by `restProvider()`. The run only reads, unless {@link
 * SpaceProviderCheckOptions.write} is given: it then creates a space, and deletes it.
 *
 * An unreachable provider results in a report of failures, not in a rejection.
 *
 * @throws TypeError for an invalid URL; the reason of `signal` once it aborts
 */
export async function checkSpaceProvider(options: SpaceProviderCheckOptions): Promise<ConformanceReport> {
  const { url, parent, write = false, signal = new AbortController().signal } = options;
  const startedAt = performance.now();
  const deadlines = { ...DEADLINES, ...options.deadlines };
  const { spaceProviderOpenAPI } = await import("@virtual-workspaces/spaces");
  const protocol: ProtocolDocument = spaceProviderOpenAPI;
  using client = new HttpClient({ url, credentials: options, signal, timeout: deadlines.answer });
  const common: ProviderProbeOptions = {
    ...{ client, deadlines, parent, bodies: new Bodies(protocol), paths: Object.keys(protocol.paths ?? {}) },
    identified: identifies(options),
    makes: write ? `conformance-${randomUUID().slice(0, 8)}` : undefined,
  };
  await using probe = new ProviderProbe(common);
  let results: readonly CheckResult[];
  let left: readonly string[];
  try {
    results = await runAll(probe, { ...options, write });
  } finally {
    left = await cleanUp(probe, common, options);
  }
  signal.throwIfAborted();
  return {
    url,
    serverVersion: await probe.status().then(
      (status) => textAt(status, "version"),
      () => "",
    ),
    resources: ["spaces"],
    results,
    ...countOf(results),
    left,
    duration: Math.round(performance.now() - startedAt),
  };
}

/** Runs checks that only read concurrently, then those of the one created space, in their order. */
async function runAll(
  probe: ProviderProbe,
  { checks = () => true, write = false, signal, onResult }: SpaceProviderCheckOptions,
): Promise<readonly CheckResult[]> {
  const slots = limited(AT_ONCE);
  const done = async (check: ProviderCheck): Promise<CheckResult> => {
    const run = async (): Promise<void> => {
      if (check.writes === true && !write) throw new CheckSkipped("it creates a space, and the run only reads");
      await check.run(probe);
    };
    const result = await perform({ check, resource: undefined, run });
    signal?.throwIfAborted();
    onResult?.(result);
    return result;
  };
  const wanted = CHECKS.filter(({ id }) => checks(id));
  const results = new Map<ProviderCheck, CheckResult>();
  const reading = wanted.filter(({ writes }) => writes !== true);
  await Promise.all(reading.map(async (check) => results.set(check, await slots(() => done(check)))));
  for (const check of wanted) if (check.writes === true) results.set(check, await done(check));
  return wanted.map((check) => results.get(check) as CheckResult);
}

/** Deletes what the run created, also after an early end. @returns the names that could not be deleted */
async function cleanUp(
  probe: ProviderProbe,
  common: ProviderProbeOptions,
  { url, ...credentials }: SpaceProviderCheckOptions & Credentials,
): Promise<readonly string[]> {
  const name = probe.begun;
  if (name === undefined) return [];
  const { deadlines } = common;
  using client = new HttpClient({ url, credentials, signal: new AbortController().signal, timeout: deadlines.answer });
  await using own = new ProviderProbe({ ...common, client });
  try {
    const { status } = await own.space(name);
    if (status === 404) return [];
    await own.space(name, { method: "DELETE", repeatable: true });
    await untilGone(name, own);
    return [];
  } catch {
    return [`space ${name}`];
  }
}
