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
import { CLUSTER_PROXY_VIEW } from "../protocol/wire.ts";
import type { Connection, ConnectionProblem } from "./connections.ts";
import type { Tunnel } from "./tunnels.ts";

/** The conditions of a ClusterProxy, besides Ready. */
const CLUSTER_PROXY_CONDITIONS = {
  identity: "IdentityValid",
  urls: "VirtualWorkspaceURLsReady",
  agent: "AgentConnected",
  /** With `tls: EndToEnd` alone. */
  credential: "CredentialValid",
} as const;

/** What a hub knows of a ClusterProxy. */
export interface ObservedProxy {
  /** The newest of its tunnels at this hub that can be used. */
  readonly tunnel: Pick<Tunnel, "version" | "tls"> | undefined;
  readonly connection: Connection | ConnectionProblem;
  /** Which hubs have any. */
  readonly hubs: readonly string[];
  /** Where hubs serve their views, before `/services`. */
  readonly reachable: readonly string[];
  /** Whether its agent, which has no tunnel, may still be on its way: a tunnel has just ended, or a hub has just begun. */
  readonly isAwaited: boolean;
  readonly urls: ServedUrls | undefined;
  readonly now: Date;
}

/** How often it is written that an agent is there, ms. */
export const HEARTBEAT = 60_000;

/** What is wrong: a condition that is False. */
interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** The status of a ClusterProxy: Ready together with its URL, or neither, since controllers of others look at both. */
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
  conditions = withCredential(conditions, { tls, connection, now });
  const types = [
    identity,
    CLUSTER_PROXY_CONDITIONS.urls,
    agent,
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

const URL_UNKNOWN = "where this server serves its views is not known yet: see its Shard";
const ENROL = "enrol one by a token of `virtual-workspaces agent token`";

function identityProblem(proxy: ClusterProxy, now: Date): Problem | undefined {
  const { enrolment, certificateExpires } = proxy.status?.agent ?? {};
  if (enrolment === undefined) return { reason: "NeverEnrolled", message: `no agent was ever enrolled: ${ENROL}` };
  if (isRevoked(proxy, Date.parse(enrolment.time)))
    return { reason: "Revoked", message: `the agent was enrolled before spec.revokedBefore: ${ENROL}` };
  if (certificateExpires !== undefined && Date.parse(certificateExpires) < now.getTime())
    return {
      reason: "CertificateExpired",
      message: `the agent's certificate ended at ${certificateExpires}: ${ENROL}`,
    };
  return undefined;
}

/** The agent is there, for something else than what is wanted. */
function modeProblem({ tls: said = "Agent" }: ClusterProxyAgent, tls: ClusterProxyAgent["tls"]): Problem | undefined {
  if (said === tls) return undefined;
  const start = tls === "EndToEnd" ? "with --end-to-end" : "without --end-to-end";
  return {
    reason: "ModeMismatch",
    message: `spec.tls is ${tls}, and the agent is not: start it ${start}, or change that`,
  };
}

/** Whether the hub has a credential, where it needs one. */
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

function agentProblem({ status }: ClusterProxy): Problem {
  const { enrolment, epoch } = status?.agent ?? {};
  if (enrolment === undefined) return { reason: "NeverEnrolled", message: `no agent was ever enrolled: ${ENROL}` };
  if (epoch === undefined)
    return { reason: "NeverConnected", message: "the agent has never connected: see that it runs, and its log" };
  return {
    reason: "Disconnected",
    message: "the agent is not connected: see that it runs and reaches this server, and its log",
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

/** What its tunnel says of an agent; a time that is not long ago stays, unless it was lost since. */
function heartbeatOf(
  status: ClusterProxyStatus | undefined,
  { version, tls }: Pick<Tunnel, "version" | "tls">,
  now: Date,
): NonNullable<ClusterProxyStatus["agent"]> {
  const { lastHeartbeatTime } = status?.agent ?? {};
  const isKnown = getCondition(status?.conditions, CLUSTER_PROXY_CONDITIONS.agent)?.status === "True";
  const isRecent = lastHeartbeatTime !== undefined && now.getTime() - Date.parse(lastHeartbeatTime) < HEARTBEAT;
  return { version, tls, lastHeartbeatTime: isKnown && isRecent ? lastHeartbeatTime : formatTime(now) };
}
