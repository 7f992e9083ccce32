import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { loadKubeconfig } from "@virtual-workspaces/client";
import { Agent, type AgentEvent, type NamedHub } from "@virtual-workspaces/cluster-proxy";
import type { PolicyRule } from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import { clusterURL } from "@virtual-workspaces/kcp";
import { parse } from "yaml";
import { Failure, orFail, UsageError } from "../process/failure.ts";
import { readIfThere, writePrivately } from "../process/files.ts";
import { Interrupt } from "../process/interrupt.ts";
import { logAs } from "../process/log.ts";
import { version } from "../process/programs.ts";
import type { AgentFlags } from "./flags.ts";
import { type HubAccess, hubKubeconfig, namedHubs, readHub } from "./hub-kubeconfig.ts";

/** How long what is open may take to end once the agent is asked to, ms. */
const DRAINED = 10_000;

/** Runs the agent until it is asked to end, or another has its place. @returns the exit code @throws Failure, UsageError */
export async function run(options: AgentFlags): Promise<number> {
  const { kubeconfig, context, "allow-file": allowFile, "end-to-end": endToEnd = false } = options;
  if (endToEnd && allowFile !== undefined)
    throw new UsageError(
      "--allow-file: with --end-to-end nothing of what is asked can be read, and none of it refused",
    );
  await using stack = new AsyncDisposableStack();
  const interrupt = stack.use(new Interrupt());
  const log = stack.use(logAs(options["logging-format"]));
  const { access, others, file } = await hubOf(options);
  const { hub, token, certificate } = access;
  const allow = allowFile === undefined ? undefined : readRules(readFileSync(allowFile, "utf8"), allowFile);
  const { upstream, cluster } = await orFail(() =>
    loadKubeconfig({ ...(kubeconfig && { file: kubeconfig }), ...(context && { context }) }),
  );
  // A workspace is a remote cluster as any other.
  const api = cluster === undefined ? upstream : { ...upstream, url: clusterURL(upstream.url, cluster) };
  const agent = stack.use(
    await orFail(
      () =>
        new Agent({
          ...{ hub, others, api, version: version() },
          ...(token !== undefined && { token }),
          ...(certificate && { certificate }),
          ...(allow && { allow }),
          endToEnd,
          ...(options.hubs !== undefined && { hubs: numberOf(options.hubs) }),
          keep: (kept) =>
            writePrivately(file, hubKubeconfig({ hub, token: undefined, certificate: kept.certificate }, kept.others)),
          onEvent: (event) => log(recordOf(event)),
        }),
    ),
  );
  log({ level: "info", message: "agent dials", hub: hub.url, cluster: api.url });
  const over = await Promise.race([agent.ended, interrupt.asked.then(() => "asked" as const)]);
  if (over !== "asked") throw new Failure(over === undefined ? "the agent has ended" : over.message);
  log({ level: "info", message: "shutting down" });
  await agent.drain(AbortSignal.timeout(DRAINED));
  return 0;
}

/** @throws UsageError */
function numberOf(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new UsageError(`--hubs ${text}: give a number from 1 to 99`);
}

interface HubFile {
  readonly file: string;
  readonly access: HubAccess;
  readonly others: readonly NamedHub[];
}

/** By what it is known to the hub: what it has kept, and what it was given. @throws Failure, UsageError */
async function hubOf(options: AgentFlags): Promise<HubFile> {
  const { "hub-kubeconfig": kept, "bootstrap-kubeconfig": given } = options;
  if (kept === undefined)
    throw new UsageError("--hub-kubeconfig is missing: name the file in which the agent keeps its certificate");
  const file = resolve(kept);
  const text = readIfThere(file);
  const own = text === undefined ? undefined : await readHub(file);
  const bootstrap = given === undefined || readIfThere(given) === undefined ? undefined : await readHub(given);
  const access = bootstrap ?? own;
  if (access === undefined)
    throw new Failure(
      `${file} is not there: the agent has not been enrolled. Give --bootstrap-kubeconfig a file that \`virtual-workspaces agent token\` has printed`,
    );
  // What a file that was given says of another hub is not of what was heard of that one.
  const others = text === undefined || access.hub.url !== own?.hub.url ? [] : namedHubs(file, text);
  return { file, others, access: { ...access, token: bootstrap?.token, certificate: own?.certificate } };
}

function recordOf(event: AgentEvent): Parameters<Log>[0] {
  switch (event.type) {
    case "certified":
      return { level: "info", message: "the agent has a certificate", expires: event.expires.toISOString() };
    case "connected":
      return { level: "info", message: "connected", epoch: event.epoch, hub: event.hub };
    case "draining":
      return { level: "info", message: "the hub ends this tunnel: another is dialled", hub: event.hub };
    case "disconnected":
      return {
        level: "info",
        message: "disconnected",
        hub: event.hub,
        ...(event.error && { error: event.error.message }),
      };
    case "failed":
      return {
        level: "warn",
        message: FAILED[event.what],
        ...(event.hub !== undefined && { hub: event.hub }),
        error: event.error instanceof Error ? event.error.message : String(event.error),
        ...(event.retryAfter !== undefined && { retryAfterSeconds: Math.round(event.retryAfter / 100) / 10 }),
      };
  }
}

const FAILED: Readonly<Record<Extract<AgentEvent, { readonly type: "failed" }>["what"], string>> = {
  tunnel: "the hub cannot be dialled",
  hubs: "the hub does not say which others there are",
  certificate: "the certificate cannot be renewed",
  keep: "the certificate cannot be kept: see --hub-kubeconfig",
  api: "the remote cluster cannot be asked",
};

const LISTS = ["verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"] as const;

/**
 * The rules of an allow file: a list of them, or an object with `rules`, as a ClusterRole is.
 *
 * @throws Failure naming the file, the rule and the field
 */
function readRules(text: string, file: string): readonly PolicyRule[] {
  const content = parsed(text, file);
  const rules: unknown = isJsonObject(content) ? content["rules"] : content;
  if (!Array.isArray(rules)) throw new Failure(`${file}: give a list of rules, or rules: as a ClusterRole has them`);
  return rules.map((rule: unknown, at) => {
    const problem = problemIn(rule);
    if (problem !== undefined) throw new Failure(`${file}: rules[${at}]${problem}`);
    return rule as PolicyRule;
  });
}

function parsed(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new Failure(`${file}: it is no YAML`, { cause });
  }
}

function problemIn(rule: unknown): string | undefined {
  if (!isJsonObject(rule)) return ": it is no rule";
  const unknown = Object.keys(rule).find((name) => !LISTS.includes(name as never));
  if (unknown !== undefined) return `.${unknown}: there is no such field: the fields are ${LISTS.join(", ")}`;
  const bad = LISTS.find((name) => rule[name] !== undefined && !isWords(rule[name]));
  if (bad !== undefined) return `.${bad}: give a list of words`;
  if (rule["verbs"] === undefined) return '.verbs: say which, or ["*"]';
  if (rule["resources"] === undefined && rule["nonResourceURLs"] === undefined)
    return ": say of which resources or nonResourceURLs: a rule without them allows nothing";
  if (rule["resources"] !== undefined && rule["apiGroups"] === undefined) return '.apiGroups: say of which, or ["*"]';
  return undefined;
}

function isWords(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
