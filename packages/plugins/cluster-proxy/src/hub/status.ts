import { formatTime } from "@virtual-workspaces/apimachinery";
import {
  type ClusterProxy,
  type ClusterProxyAgent,
  type ClusterProxyStatus,
  clusterOf,
  viewURL,
} from "@virtual-workspaces/kcp";
import {
  type Condition,
  getCondition,
  markFalse,
  markTrue,
  markUnknown,
  READY_CONDITION,
  setSummary,
} from "@virtual-workspaces/kcp/conditions";
import type { ServedUrls } from "@virtual-workspaces/kcp/informers";
import { isRevoked } from "../enrolment/agent-records.ts";
import type { ApiState } from "../protocol/api-states.ts";
import { CLUSTER_PROXY_VIEW } from "../protocol/wire.ts";
import type { Connection, ConnectionProblem } from "./connections.ts";
import type { Tunnel } from "./tunnels.ts";

/** Condition types of a ClusterProxy besides Ready. */
export const CLUSTER_PROXY_CONDITIONS = {
  identity: "IdentityValid",
  urls: "VirtualWorkspaceURLsReady",
  agent: "AgentConnected",
  api: "APIServerAvailable",
  /** Only with `tls: EndToEnd`. */
  credential: "CredentialValid",
} as const;

/** State of a ClusterProxy at a hub. */
export interface ObservedProxy {
  /** Newest usable tunnel at this hub. */
  readonly tunnel: Pick<Tunnel, "version" | "tls" | "opened"> | undefined;
  readonly connection: Connection | ConnectionProblem;
  /** Hubs with a tunnel. */
  readonly hubs: readonly string[];
  /** State of the remote API server, if this hub reports it: otherwise the condition stays. */
  readonly api: ApiState | undefined;
  /** Base URLs of hubs' views, without `/services`. */
  readonly reachable: readonly string[];
  /** Whether an agent without a tunnel may be about to reconnect: the tunnel has just ended, or the hub has just started. */
  readonly isAwaited: boolean;
  readonly urls: ServedUrls | undefined;
  readonly now: Date;
}

/** Interval between heartbeats in the status, ms. */
export const HEARTBEAT = 60_000;

/** A condition that is False. */
interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** Returns the status of a ClusterProxy. Ready and the URL are set together, since other controllers use both. */
export function statusOf(proxy: ClusterProxy, known: ObservedProxy): ClusterProxyStatus {
  const { status, metadata } = proxy;
  const { urls, now, tunnel, hubs, reachable, connection } = known;
  const { tls = "Agent" } = proxy.spec ?? {};
  const said = { ...status?.agent, ...(tunnel !== undefined && heartbeatOf(status, tunnel, now)) };
  const { identity, agent } = CLUSTER_PROXY_CONDITIONS;
  let { conditions } = status ?? {};
  conditions = markCondition(conditions, { type: identity, problem: identityProblem(proxy, now), now });
  conditions =
    urls === undefined
      ? markUnknown(
          conditions,
          { type: CLUSTER_PROXY_CONDITIONS.urls, reason: "URLUnknown", message: URL_UNKNOWN },
          now,
        )
      : markTrue(conditions, CLUSTER_PROXY_CONDITIONS.urls, now);
  if (hubs.length > 0 || !known.isAwaited)
    conditions = markCondition(conditions, {
      type: agent,
      problem: hubs.length > 0 ? modeProblem(said, tls) : agentProblem(proxy),
      now,
    });
  conditions = withApi(conditions, known);
  conditions = withCredential(conditions, { tls, connection, now });
  const types = [
    identity,
    CLUSTER_PROXY_CONDITIONS.urls,
    agent,
    CLUSTER_PROXY_CONDITIONS.api,
    ...(tls === "EndToEnd" ? [CLUSTER_PROXY_CONDITIONS.credential] : []),
  ];
  conditions = setSummary(conditions, { now, types });
  const at = (services: string): string => viewURL(services, CLUSTER_PROXY_VIEW, clusterOf(proxy), metadata.name ?? "");
  const others = reachable.length > 0 ? reachable : [urls?.services ?? ""];
  return {
    ...status,
    phase: phaseOf(conditions, urls),
    conditions,
    ...(urls && { URL: at(urls.services), virtualWorkspaces: others.map((services) => ({ url: at(services) })) }),
    tls,
    ...((hubs.length > 0 || status?.agent !== undefined) && { agent: { ...said, hubs: [...hubs] } }),
  };
}

const URL_UNKNOWN = "the URL of this server's views is not known yet: see its Shard";
const ENROL = "enroll one with a token of `virtual-workspaces agent token`";

function identityProblem(proxy: ClusterProxy, now: Date): Problem | undefined {
  const { enrolment, certificateExpires } = proxy.status?.agent ?? {};
  if (enrolment === undefined) return { reason: "NeverEnrolled", message: `no agent has been enrolled: ${ENROL}` };
  if (isRevoked(proxy, Date.parse(enrolment.time)))
    return { reason: "Revoked", message: `the agent was enrolled before spec.revokedBefore: ${ENROL}` };
  if (certificateExpires !== undefined && Date.parse(certificateExpires) < now.getTime())
    return {
      reason: "CertificateExpired",
      message: `the agent's certificate expired at ${certificateExpires}: ${ENROL}`,
    };
  return undefined;
}

/** Returns the problem of an agent that is connected in another TLS mode than the desired one. */
function modeProblem({ tls: said = "Agent" }: ClusterProxyAgent, tls: ClusterProxyAgent["tls"]): Problem | undefined {
  if (said === tls) return undefined;
  const start = tls === "EndToEnd" ? "with --end-to-end" : "without --end-to-end";
  return {
    reason: "ModeMismatch",
    message: `spec.tls is ${tls}, and the agent is in the other mode: start it ${start}, or change spec.tls`,
  };
}

/** Returns the condition of the hub's credential, if it needs one. */
function withCredential(
  conditions: Condition[] | undefined,
  { tls, connection, now }: { readonly tls: ClusterProxyAgent["tls"] } & Pick<ObservedProxy, "connection" | "now">,
): Condition[] | undefined {
  const { credential: type } = CLUSTER_PROXY_CONDITIONS;
  if (tls !== "EndToEnd") return conditions?.filter((one) => one.type !== type);
  if (!("reason" in connection)) return markTrue(conditions, type, now);
  const { reason, message, isUnknown } = connection;
  return isUnknown
    ? markUnknown(conditions, { type, reason, message }, now)
    : markFalse(conditions, { type, severity: "Error", reason, message }, now);
}

/** Problems of the API server behind an agent, by the state that the agent reports. */
const API_PROBLEMS: Readonly<Record<Exclude<ApiState, "Available">, string>> = {
  Unreachable: "the agent cannot connect to its API server: check that it runs, and the agent's log",
  Untrusted: "the agent does not trust the certificate of its API server: check the agent's kubeconfig",
  CredentialRejected: "the API server rejects the agent's credential: renew it in the agent's kubeconfig",
  Failing: "the agent gets no valid answer from its API server: check its health, and the agent's log",
};

/** Returns the condition of the remote API server. Without an agent it is unknown. */
function withApi(
  conditions: Condition[] | undefined,
  { api, hubs, isAwaited, now }: ObservedProxy,
): Condition[] | undefined {
  const { api: type } = CLUSTER_PROXY_CONDITIONS;
  if (api !== undefined) {
    const problem = api === "Available" ? undefined : { reason: api, message: API_PROBLEMS[api] };
    return markCondition(conditions, { type, problem, now });
  }
  if (hubs.length > 0 && getCondition(conditions, type) === undefined)
    return markUnknown(conditions, { type, reason: "NotReported", message: NOT_REPORTED }, now);
  if (hubs.length > 0 || isAwaited) return conditions;
  return markUnknown(conditions, { type, reason: "AgentNotConnected", message: NO_AGENT }, now);
}

const NOT_REPORTED = "the agent has not reported the state of its API server yet: wait some seconds";
const NO_AGENT = "no agent is connected that could report the state of its API server";

function agentProblem({ status }: ClusterProxy): Problem {
  const { enrolment, epoch } = status?.agent ?? {};
  if (enrolment === undefined) return { reason: "NeverEnrolled", message: `no agent has been enrolled: ${ENROL}` };
  if (epoch === undefined)
    return { reason: "NeverConnected", message: "the agent has never connected: check that it runs, and its log" };
  return {
    reason: "Disconnected",
    message: "the agent is not connected: check that it runs and reaches this server, and its log",
  };
}

function markCondition(
  conditions: readonly Condition[] | undefined,
  { type, problem, now }: { readonly type: string; readonly problem: Problem | undefined; readonly now: Date },
): Condition[] {
  if (problem === undefined) return markTrue(conditions, type, now);
  return markFalse(conditions, { type, severity: "Error", ...problem }, now);
}

function phaseOf(
  conditions: readonly Condition[],
  urls: ServedUrls | undefined,
): NonNullable<ClusterProxyStatus["phase"]> {
  const statusOfType = (wanted: string): string | undefined => conditions.find(({ type }) => type === wanted)?.status;
  if (urls === undefined) return "Initializing";
  if (statusOfType(READY_CONDITION) === "True") return "Ready";
  const identity = conditions.find(({ type }) => type === CLUSTER_PROXY_CONDITIONS.identity);
  if (identity?.reason === "NeverEnrolled") return "Initializing";
  return identity?.status === "True" ? "Connecting" : "Unknown";
}

/** Returns the heartbeat of an agent from its tunnel. A recent time stays unchanged unless the tunnel is newer, or was lost since. */
function heartbeatOf(
  status: ClusterProxyStatus | undefined,
  { version, tls, opened }: Pick<Tunnel, "version" | "tls" | "opened">,
  now: Date,
): NonNullable<ClusterProxyStatus["agent"]> {
  const { lastHeartbeatTime } = status?.agent ?? {};
  const isKnown = getCondition(status?.conditions, CLUSTER_PROXY_CONDITIONS.agent)?.status === "True";
  const last = Date.parse(lastHeartbeatTime ?? "");
  // The times in a status are whole seconds.
  const isRecent =
    lastHeartbeatTime !== undefined && now.getTime() - last < HEARTBEAT && last + 1_000 > opened.getTime();
  return { version, tls, lastHeartbeatTime: isKnown && isRecent ? lastHeartbeatTime : formatTime(now) };
}
