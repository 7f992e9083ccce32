import { ApiError, formatTime, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { ListResult, Scope, Storage, WriteOptions } from "@virtual-workspaces/framework/storage";
import { viewURL } from "@virtual-workspaces/kcp";
import { certifyAgent } from "../enrolment/agent-identity.ts";
import { newJoinToken } from "../enrolment/tokens.ts";
import type { Hub } from "../hub/hub.ts";
import { requireProxy } from "../hub/proxy-cache.ts";
import {
  type AgentCertificateContent,
  AgentHub,
  type AgentHubContent,
  type AgentTokenContent,
  TOKEN_SECONDS,
} from "../protocol/agent-kinds.ts";
import { AGENTS_VIEW } from "../protocol/wire.ts";

type Token = ObjectOf<AgentTokenContent>;
type Certificate = ObjectOf<AgentCertificateContent>;

/** Storage that issues tokens to users who may enroll agents. */
export class AgentTokens implements Storage<Token> {
  /** Tokens are not stored. */
  readonly lifecycle = "storage";
  readonly #hub: Hub;

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  /** @throws ApiError 404 if the ClusterProxy does not exist */
  async create({ params }: Scope, { apiVersion, kind, spec }: Token): Promise<Token> {
    const { keys, now, records } = this.#hub;
    const key = { cluster: params["cluster"] ?? "", name: params["name"] ?? "" };
    const { metadata } = requireProxy(await records.read(key), key);
    const { expirationSeconds: seconds = TOKEN_SECONDS.usual } = spec ?? {};
    const whose = { ...key, uid: metadata.uid ?? "" };
    const { token, expires } = await newJoinToken(whose, await keys.get(), { seconds, now: now() });
    return {
      apiVersion,
      kind,
      metadata: {},
      spec: { expirationSeconds: seconds },
      status: { token, expirationTimestamp: formatTime(expires) },
    };
  }
}

/** Storage that issues certificates of agents: the first one for a token, later ones for the previous certificate. */
export class AgentCertificates implements Storage<Certificate> {
  /** Only the expiry of the latest certificate is stored. */
  readonly lifecycle = "storage";
  readonly #hub: Hub;

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  /** @throws ApiError 400 on an invalid request; 403 for other callers, for agents that are no longer valid, and for a used token */
  async create(_: Scope, { apiVersion, kind, spec }: Certificate, { user }: WriteOptions): Promise<Certificate> {
    const { keys, records, users, now, certificateLifetime: lifetime } = this.#hub;
    const credential = users.credentialOf(user);
    if (credential === undefined || credential.kind === "hub")
      throw ApiError.forbidden({
        resource: { group: "", resource: "" },
        message: "only agents get certificates: create an AgentToken for one",
      });
    const { request } = spec;
    const expires = new Date(now().getTime() + lifetime);
    const terms = { ...(await keys.get()), now: now(), lifetime };
    // Validates the request first, so that an invalid one uses up no token.
    const certify = (identity: Parameters<typeof certifyAgent>[1]): Promise<string> =>
      certifyAgent(request, identity, terms);
    let certificate: string;
    if (credential.kind === "join") {
      const { cluster, name, uid, id: enrolment } = credential.join;
      certificate = await certify({ cluster, name, uid, enrolment });
      await records.enrol(credential.join, expires);
    } else {
      certificate = await certify(credential.proven.identity);
      await records.renewed(credential, expires);
    }
    return {
      apiVersion,
      kind,
      metadata: {},
      spec: { request },
      status: { certificate, expirationTimestamp: formatTime(expires) },
    };
  }
}

/** Storage that lists the hubs. */
export class AgentHubs implements Storage<ObjectOf<AgentHubContent>> {
  readonly #hub: Hub;

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  list({ params }: Scope): ListResult<ObjectOf<AgentHubContent>> {
    const [cluster, name] = [params["cluster"] ?? "", params["name"] ?? ""];
    const items = this.#hub.hubs.reachable.map(({ id, url, ca }) => ({
      apiVersion: `${AgentHub.group}/${AgentHub.version}`,
      kind: AgentHub.kind,
      metadata: { name: id },
      status: {
        url: viewURL(url, AGENTS_VIEW, cluster, name),
        ...(ca !== undefined && { certificateAuthority: ca }),
      },
    }));
    return { items, resourceVersion: "" };
  }
}
