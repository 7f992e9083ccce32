import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isApiError, isJsonObject } from "@virtual-workspaces/apimachinery";
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
import { kubeconfigUpstream } from "../server/upstreams.ts";
import type { AgentFlags } from "./flags.ts";
import { type HubAccess, hubKubeconfig, namedHubs, readHub } from "./hub-kubeconfig.ts";

/** Time that open requests and streams have to complete at a graceful shutdown, ms. */
const DRAINED = 10_000;

/** Runs the agent until a signal stops it or another agent takes its place. @returns the exit code @throws Failure, UsageError */
export async function run(options: AgentFlags): Promise<number> {
  const { kubeconfig, context, "allow-file": allowFile, "end-to-end": endToEnd = false } = options;
  if (endToEnd && allowFile !== undefined)
    throw new UsageError(
      "--allow-file does not work with --end-to-end: the agent cannot read encrypted requests, so it cannot deny any. Remove one of the two flags",
    );
  await using stack = new AsyncDisposableStack();
  const interrupt = stack.use(new Interrupt());
  const log = stack.use(logAs(options["logging-format"]));
  const { access, others, file } = await hubOf(options);
  const { hub, token, certificate } = access;
  const allow = allowFile === undefined ? undefined : readRules(readFileSync(allowFile, "utf8"), allowFile);
  const { upstream, cluster } = await kubeconfigUpstream({ file: kubeconfig, context, log });
  // A workspace can be the remote cluster, too.
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
  log({ level: "info", message: "starting agent", hub: hub.url, cluster: api.url });
  const over = await Promise.race([agent.ended, interrupt.requested.then(() => "interrupted" as const)]);
  if (over !== "interrupted") throw new Failure(over === undefined ? "the agent has stopped" : over.message);
  log({ level: "info", message: "shutting down" });
  await agent.drain(AbortSignal.timeout(DRAINED));
  return 0;
}

/** @throws UsageError */
function numberOf(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new UsageError(`invalid value "${text}" for --hubs: use a number from 1 to 99`);
}

interface HubFile {
  readonly file: string;
  readonly access: HubAccess;
  readonly others: readonly NamedHub[];
}

/** Reads the agent's credentials for the hub: its own certificate, and the bootstrap file. @throws Failure, UsageError */
async function hubOf(options: AgentFlags): Promise<HubFile> {
  const { "hub-kubeconfig": kept, "bootstrap-kubeconfig": given } = options;
  if (kept === undefined)
    throw new UsageError("--hub-kubeconfig is required: name the file for the agent's certificate");
  const file = resolve(kept);
  const text = readIfThere(file);
  const own = text === undefined ? undefined : await readHub(file);
  const bootstrap = given === undefined || readIfThere(given) === undefined ? undefined : await readHub(given);
  const access = bootstrap ?? own;
  if (access === undefined)
    throw new Failure(
      `file "${file}" does not exist: the agent is not enrolled. Set --bootstrap-kubeconfig to a file that \`virtual-workspaces agent token\` printed`,
    );
  // Hubs that the agent knows from one hub are not used with a bootstrap file for another hub.
  const others = text === undefined || access.hub.url !== own?.hub.url ? [] : namedHubs(file, text);
  return { file, others, access: { ...access, token: bootstrap?.token, certificate: own?.certificate } };
}

function recordOf(event: AgentEvent): Parameters<Log>[0] {
  switch (event.type) {
    case "certified":
      return { level: "info", message: "certificate issued", expires: event.expires.toISOString() };
    case "connected":
      return { level: "info", message: "connected", epoch: event.epoch, hub: event.hub };
    case "draining":
      return { level: "info", message: "hub is draining the tunnel, dialing another hub", hub: event.hub };
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
        ...saidBy(event),
        ...(event.hub !== undefined && { hub: event.hub }),
        ...(event.retryAfter !== undefined && { retryAfterSeconds: Math.round(event.retryAfter / 100) / 10 }),
      };
  }
}

type Failed = Extract<AgentEvent, { readonly type: "failed" }>;

/** Returns message and error of a failure: an answer of the hub is no failure to dial it. */
function saidBy({ what, error }: Failed): { readonly message: string; readonly [name: string]: string | number } {
  const message = error instanceof Error ? error.message : String(error);
  if (what === "api" || what === "keep" || !isApiError(error)) return { message: FAILED[what], error: message };
  const remedy = REMEDIES[error.code];
  return {
    message: error.code < 500 ? "the hub rejected the request" : "the hub cannot serve the request",
    code: error.code,
    error: message,
    ...(remedy !== undefined && { remedy }),
  };
}

const ENROL = "enroll the agent with a new token of `virtual-workspaces agent token` in --bootstrap-kubeconfig";
/** Remedies by status code. Other rejections are retried. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: `check that the server in --hub-kubeconfig is the hub of the ClusterProxy, or ${ENROL}`,
  403: `${ENROL}, unless a proxy in front of the hub has answered`,
  404: "check the server in --hub-kubeconfig, and that the ClusterProxy exists",
};

const FAILED: Readonly<Record<Failed["what"], string>> = {
  tunnel: "cannot dial the hub",
  hubs: "cannot list the other hubs",
  certificate: "cannot renew the certificate",
  keep: "cannot write the certificate: check --hub-kubeconfig",
  api: "cannot reach the remote cluster",
};

const LISTS = ["verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"] as const;

/**
 * Reads the rules of an allow file: a list of them, or an object with `rules`, like a ClusterRole.
 *
 * @throws Failure naming the file, the rule and the field
 */
function readRules(text: string, file: string): readonly PolicyRule[] {
  const content = parsed(text, file);
  const rules: unknown = isJsonObject(content) ? content["rules"] : content;
  if (!Array.isArray(rules))
    throw new Failure(`invalid allow file "${file}": use a list of rules, or a field "rules" as in a ClusterRole`);
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
    throw new Failure(`invalid allow file "${file}": it is not YAML`, { cause });
  }
}

function problemIn(rule: unknown): string | undefined {
  if (!isJsonObject(rule)) return ": expected an object with the fields of a rule";
  const unknown = Object.keys(rule).find((name) => !LISTS.includes(name as never));
  if (unknown !== undefined) return `.${unknown}: unknown field: use ${LISTS.join(", ")}`;
  const bad = LISTS.find((name) => rule[name] !== undefined && !isWords(rule[name]));
  if (bad !== undefined) return `.${bad}: expected a list of strings`;
  if (rule["verbs"] === undefined) return '.verbs: missing: list the verbs, or use ["*"]';
  if (rule["resources"] === undefined && rule["nonResourceURLs"] === undefined)
    return ": a rule without resources and nonResourceURLs allows nothing: add one of them";
  if (rule["resources"] !== undefined && rule["apiGroups"] === undefined)
    return '.apiGroups: missing: list the API groups, or use ["*"]';
  return undefined;
}

function isWords(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
