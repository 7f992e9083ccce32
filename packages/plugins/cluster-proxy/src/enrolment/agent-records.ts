import { ApiError, formatTime, isApiError } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import { ClusterProxy, type ClusterProxyAgent } from "@virtual-workspaces/kcp";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import { RETRY_AFTER } from "../protocol/retry-after.ts";
import type { AgentIdentity } from "./agent-identity.ts";
import type { AgentCredential } from "./agent-users.ts";
import type { JoinToken } from "./tokens.ts";

/** Maximum number of attempts after write conflicts. */
const TRIES = 10;
/** Times in objects have whole seconds. */
const SECOND = 1_000;

/** Returns the reason to reject an authenticated agent or token for this ClusterProxy, for the agent's administrator; `undefined` if it is valid. */
export function problemOf(proxy: ClusterProxy | undefined, credential: AgentCredential): string | undefined {
  if (proxy === undefined) return GONE;
  const { agent } = proxy.status ?? {};
  if (credential.kind === "join") {
    const { uid, issued } = credential.join;
    if (uid !== proxy.metadata.uid) return OTHER;
    if (isRevoked(proxy, issued * 1000))
      return `the token was created before spec.revokedBefore of the ClusterProxy: ${REMEDY}`;
    return issued > (agent?.enrolment?.tokenIssued ?? 0)
      ? undefined
      : `the token or a newer one has already been used: ${REMEDY}`;
  }
  const { identity, isExpired, expires } = credential.proven;
  if (identity.uid !== proxy.metadata.uid) return OTHER;
  if (isExpired)
    return `the agent's certificate is not valid by this server's clock, until ${formatTime(expires)}: ${REMEDY}`;
  if (agent?.enrolment?.id !== identity.enrolment) return `another agent has been enrolled since: ${REMEDY}`;
  if (isRevoked(proxy, Date.parse(agent.enrolment.time)))
    return `the agent was enrolled before spec.revokedBefore of the ClusterProxy: ${REMEDY}`;
  return undefined;
}

const REMEDY = "enroll the agent again with a token of `virtual-workspaces agent token`";
const GONE = "the ClusterProxy does not exist";
const OTHER = `the ClusterProxy was created again under the same name: ${REMEDY}`;

/** Reports whether an enrollment at a time, ms since 1970, is revoked. */
export function isRevoked({ spec }: ClusterProxy, done: number): boolean {
  const { revokedBefore } = spec ?? {};
  return revokedBefore !== undefined && done + SECOND <= Date.parse(revokedBefore);
}

/** Records of agents in the status of their ClusterProxy. Each write requires the version that was read, in any hub. */
export class AgentRecords {
  readonly #client: Client;
  readonly #now: () => Date;

  /** @param client client of all logical clusters with write access */
  constructor(client: Client, now: () => Date) {
    this.#client = client;
    this.#now = now;
  }

  /** Reads a ClusterProxy from the API, since it may be newer than the cache. */
  async read({ cluster, name }: ProxyKey): Promise<ClusterProxy | undefined> {
    try {
      return await this.#client.cluster(cluster).resource(ClusterProxy).get(name);
    } catch (error) {
      if (isApiError(error) && error.code === 404) return undefined;
      throw error;
    }
  }

  /** Uses a token once; agents of earlier enrollments are replaced. @throws ApiError 403 on a used token */
  async enrol(join: JoinToken, certificateExpires: Date): Promise<AgentIdentity> {
    const { cluster, name, uid, id } = join;
    const enrolment = { id, tokenIssued: join.issued, time: formatTime(this.#now()) };
    await this.#write(join, { kind: "join", join }, () => ({
      enrolment,
      certificateExpires: formatTime(certificateExpires),
    }));
    return { cluster, name, uid, enrolment: id };
  }

  /** Records a renewed certificate. @throws ApiError 403 for an agent that is no longer valid */
  async renewed(credential: AgentCredential & { readonly kind: "agent" }, certificateExpires: Date): Promise<void> {
    const change = { certificateExpires: formatTime(certificateExpires) };
    await this.#write(credential.proven.identity, credential, () => change);
  }

  /**
   * Returns the epoch of an agent, and the time of its token. An agent sends the epoch that it has; a new one sends none and gets the next.
   *
   * @throws ApiError 409 when a newer agent has replaced it; 403 for an agent that is no longer valid
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
        // A conflict would make the agent end.
        if (tries === TRIES)
          throw ApiError.serviceUnavailable("the ClusterProxy has too many concurrent writes: try again", RETRY_AFTER);
      }
    }
  }
}

const RESOURCE = { group: ClusterProxy.group, resource: ClusterProxy.plural };

/** Returns 409, which makes the agent end. */
function fenced({ name }: ProxyKey): ApiError {
  return ApiError.conflict(
    RESOURCE,
    name,
    "another agent with the same certificate has replaced this one: run only one",
  );
}
