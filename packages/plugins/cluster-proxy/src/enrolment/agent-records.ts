import { ApiError, formatTime, isApiError } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import { ClusterProxy, type ClusterProxyAgent } from "@virtual-workspaces/kcp";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import type { AgentIdentity } from "./agent-identity.ts";
import type { AgentCredential } from "./agent-users.ts";
import type { JoinToken } from "./tokens.ts";

/** So often others may have written between the time when it was read and when it was written. */
const TRIES = 10;
/** Whole seconds are all that times in objects have. */
const SECOND = 1_000;

/**
 * Why somebody who has shown to be an agent, or is to be one, is none for this ClusterProxy, in words for whoever runs them. `undefined`: nothing is wrong.
 */
export function problemOf(proxy: ClusterProxy | undefined, credential: AgentCredential): string | undefined {
  if (proxy === undefined) return GONE;
  const { agent } = proxy.status ?? {};
  if (credential.kind === "join") {
    const { uid, issued } = credential.join;
    if (uid !== proxy.metadata.uid) return OTHER;
    if (isRevoked(proxy, issued * 1000))
      return `the token was made before spec.revokedBefore of the ClusterProxy: ${REMEDY}`;
    return issued > (agent?.enrolment?.tokenIssued ?? 0)
      ? undefined
      : `the token has been used, or a newer one has: ${REMEDY}`;
  }
  const { identity, isExpired, expires } = credential.proven;
  if (identity.uid !== proxy.metadata.uid) return OTHER;
  if (isExpired)
    return `the agent's certificate is not good by this server's clock, until ${formatTime(expires)}: ${REMEDY}`;
  if (agent?.enrolment?.id !== identity.enrolment) return `another agent has been enrolled since: ${REMEDY}`;
  if (isRevoked(proxy, Date.parse(agent.enrolment.time)))
    return `the agent was enrolled before spec.revokedBefore of the ClusterProxy: ${REMEDY}`;
  return undefined;
}

const REMEDY = "enrol the agent again, by a token of `virtual-workspaces agent token`";
const GONE = "there is no such ClusterProxy: it was deleted, or has never been";
const OTHER = `the ClusterProxy is another one of that name: ${REMEDY}`;

/** Whether what was done at a time, ms since 1970, is good no more. */
export function isRevoked({ spec }: ClusterProxy, done: number): boolean {
  const { revokedBefore } = spec ?? {};
  return revokedBefore !== undefined && done + SECOND <= Date.parse(revokedBefore);
}

/** What is kept of agents, in the status of their ClusterProxy: each write is of the version that was read, whichever hub it is by. */
export class AgentRecords {
  readonly #client: Client;
  readonly #now: () => Date;

  /** @param client of all logical clusters, which may write */
  constructor(client: Client, now: () => Date) {
    this.#client = client;
    this.#now = now;
  }

  /** A ClusterProxy as it is written now: it may be so new that nobody has heard of it. */
  async read({ cluster, name }: ProxyKey): Promise<ClusterProxy | undefined> {
    try {
      return await this.#client.cluster(cluster).resource(ClusterProxy).get(name);
    } catch (error) {
      if (isApiError(error) && error.code === 404) return undefined;
      throw error;
    }
  }

  /** Takes a token, once: whoever had been enrolled before is no agent any more. @throws ApiError 403 on one that was taken */
  async enrol(join: JoinToken, certificateExpires: Date): Promise<AgentIdentity> {
    const { cluster, name, uid, id } = join;
    const enrolment = { id, tokenIssued: join.issued, time: formatTime(this.#now()) };
    await this.#write(join, { kind: "join", join }, () => ({
      enrolment,
      certificateExpires: formatTime(certificateExpires),
    }));
    return { cluster, name, uid, enrolment: id };
  }

  /** An agent has another certificate. @throws ApiError 403 when it is none any more */
  async renewed(credential: AgentCredential & { readonly kind: "agent" }, certificateExpires: Date): Promise<void> {
    const change = { certificateExpires: formatTime(certificateExpires) };
    await this.#write(credential.proven.identity, credential, () => change);
  }

  /**
   * Which of the agents that have the same identity one is (it says what it was told before, and a new one nothing), and when its token was made.
   *
   * @throws ApiError 409 when another one has come since; 403 when it is none any more
   */
  async admitted(
    credential: AgentCredential & { readonly kind: "agent" },
    said: number | undefined,
  ): Promise<{ readonly epoch: number; readonly tokenIssued: number }> {
    const { identity } = credential.proven;
    let [epoch, tokenIssued] = [0, 0];
    await this.#write(identity, credential, (agent) => {
      tokenIssued = agent?.enrolment?.tokenIssued ?? 0;
      const current = agent?.epoch ?? 0;
      if (said !== undefined && said < current) throw fenced(identity);
      epoch = said ?? current + 1;
      return epoch === current ? undefined : { epoch };
    });
    return { epoch, tokenIssued };
  }

  async #write(
    key: ProxyKey,
    credential: AgentCredential,
    change: (agent: ClusterProxyAgent | undefined) => Partial<ClusterProxyAgent> | undefined,
  ): Promise<void> {
    const proxies = this.#client.cluster(key.cluster).resource(ClusterProxy);
    for (let tries = 1; ; tries++) {
      const proxy = await proxies.get(key.name);
      const problem = problemOf(proxy, credential);
      if (problem !== undefined) throw ApiError.forbidden({ resource: RESOURCE, name: key.name, message: problem });
      const agent = change(proxy.status?.agent);
      if (agent === undefined) return;
      const { resourceVersion = "" } = proxy.metadata;
      try {
        await proxies.status.mergePatch(key.name, { metadata: { resourceVersion }, status: { agent } });
        return;
      } catch (error) {
        if (!isApiError(error) || error.code !== 409) throw error;
        // A conflict would tell an agent to end.
        if (tries === TRIES)
          throw ApiError.serviceUnavailable("the ClusterProxy is written all the time: try again", 1);
      }
    }
  }
}

const RESOURCE = { group: ClusterProxy.group, resource: ClusterProxy.plural };

/** 409: the agent is to end. */
function fenced({ name }: ProxyKey): ApiError {
  return ApiError.conflict(
    RESOURCE,
    name,
    "another agent with the same certificate has taken this one's place: there must be one alone",
  );
}
