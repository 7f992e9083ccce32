import {
  ApiError,
  fieldInvalid,
  formatTime,
  isClusterName,
  type JsonSchema,
  type KubeObject,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { type KindSubresource, Resource, type SubresourceWrite } from "@virtual-workspaces/framework";
import type { AccountLookup } from "./liveness.ts";
import type { TokenMinter } from "./minter.ts";

/** Minimum and maximum lifetime of a token, in seconds. */
const SHORTEST = 600;
const LONGEST = 2 ** 32;
const DEFAULT_SECONDS = 3600;

/** Options of {@link tokenSubresource}. */
export interface TokenSubresourceOptions {
  /** Kind TokenRequest. */
  readonly kind: KindSubresource<KubeObject, TokenRequestContent>["kind"];
  readonly minter: TokenMinter;
  readonly accounts: Pick<AccountLookup, "secret">;
  /** Audiences of tokens whose request names none: this server. */
  readonly audiences: readonly string[];
  /** Limit of lifetimes, in seconds, with a warning (`--service-account-max-token-expiration`). @default none */
  readonly maxSeconds?: number;
}

type Request = SubresourceWrite<KubeObject, TokenRequestContent>;

/**
 * Serves `serviceaccounts/token`: a new token for the account in the logical cluster of the URL. Security: users who may
 * create these can act as that account. A token may be bound to a Secret of the namespace, and becomes invalid with it; pods
 * and nodes do not exist.
 */
export function tokenSubresource(options: TokenSubresourceOptions): KindSubresource<KubeObject, TokenRequestContent> {
  const requests = new TokenRequests(options);
  return { kind: options.kind, create: (request) => requests.create(request) };
}

class TokenRequests {
  readonly #options: TokenSubresourceOptions;

  constructor(options: TokenSubresourceOptions) {
    this.#options = options;
  }

  async create(request: Request): Promise<Required<TokenRequestContent> & Pick<KubeObject, "metadata">> {
    const { object: account, body } = request;
    const cluster = clusterIn(request);
    const asked = body.spec ?? {};
    const seconds = Number(asked.expirationSeconds ?? DEFAULT_SECONDS);
    refuseInvalid(seconds);
    const secret = await this.#bound(request, cluster, asked.boundObjectRef);
    const life = this.#cut(seconds, request);
    const audiences = asked.audiences?.length ? asked.audiences : this.#options.audiences;
    const { token, expiresAt } = await this.#options.minter.bound({
      cluster,
      account,
      secret,
      audiences,
      seconds: life,
    });
    const { name = "", namespace = "" } = account.metadata;
    return {
      metadata: { name, namespace, creationTimestamp: formatTime(new Date(expiresAt - life * 1000)) },
      spec: { ...asked, audiences, expirationSeconds: life },
      status: { token, expirationTimestamp: formatTime(new Date(expiresAt)) },
    };
  }

  #cut(seconds: number, { warn }: Request): number {
    const { maxSeconds = LONGEST } = this.#options;
    if (seconds <= maxSeconds) return seconds;
    warn(`requested expiration of ${seconds} seconds shortened to ${maxSeconds} seconds`);
    return maxSeconds;
  }

  /** Returns the Secret that a token is bound to. @throws ApiError 400, 404, 409 */
  async #bound(
    { object }: Request,
    cluster: string,
    reference: BoundObjectReference | undefined,
  ): Promise<KubeObject | undefined> {
    if (reference === undefined) return undefined;
    const { kind = "", apiVersion = "", name = "", uid = "" } = reference;
    const slash = apiVersion.indexOf("/");
    const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)];
    const resource = group === "" ? RESOURCES.get(kind) : undefined;
    if (resource === undefined)
      throw ApiError.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
    const { namespace = "" } = object.metadata;
    const found = resource === "secrets" ? await this.#options.accounts.secret(cluster, namespace, name) : undefined;
    if (found === undefined) throw ApiError.notFound({ group: "", resource }, name);
    if (uid !== "" && uid !== found.metadata.uid)
      throw ApiError.conflict(
        { group, resource: kind },
        name,
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    return found;
  }
}

/** Kinds that Kubernetes binds tokens to. Pods and nodes never exist here. */
const RESOURCES: ReadonlyMap<string, string> = new Map([
  ["Secret", "secrets"],
  ["Pod", "pods"],
  ["Node", "nodes"],
]);

/** @throws ApiError 400 on a request for several clusters, where the account is ambiguous */
function clusterIn({ params }: Request): string {
  const cluster = params["cluster"] ?? "";
  if (isClusterName(cluster)) return cluster;
  throw ApiError.badRequest("a token belongs to one logical cluster: name it in the URL");
}

/** @throws ApiError 422 with Kubernetes' text */
function refuseInvalid(seconds: number): void {
  const causes: StatusCause[] = [];
  const field = "spec.expirationSeconds";
  if (seconds < SHORTEST) causes.push(fieldInvalid(field, seconds, "may not specify a duration less than 10 minutes"));
  if (seconds > LONGEST)
    causes.push(fieldInvalid(field, seconds, "may not specify a duration larger than 2^32 seconds"));
  if (causes.length > 0)
    throw ApiError.invalid({ kind: { group: "authentication.k8s.io", kind: "TokenRequest" }, name: "", causes });
}

// Content of a TokenRequest, for any definition of the kind.

/** Content of a TokenRequest. */
export interface TokenRequestContent {
  readonly spec?: {
    readonly audiences?: readonly string[];
    readonly expirationSeconds?: number;
    readonly boundObjectRef?: BoundObjectReference;
  };
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

/** Object whose deletion invalidates the token. */
interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

// As in Kubernetes, few fields are required, and none of the status: clients send it empty.

const texts: JsonSchema = { type: "array", items: { type: "string" } };

/** `authentication.k8s.io/v1` TokenRequest: a token for a ServiceAccount, by its subresource `token`. */
export const TokenRequest: Resource<TokenRequestContent> = new Resource<TokenRequestContent>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  scope: "Namespaced",
  description: "Token for a service account. It is created, not stored; the response has the token in its status.",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          audiences: { ...texts, description: "Audiences of the token. Default: this server." },
          expirationSeconds: { type: "integer", format: "int64", default: 3600, description: "At least 600 s." },
          boundObjectRef: {
            type: "object",
            description: "Object whose deletion invalidates the token: a Secret.",
            properties: {
              kind: { type: "string" },
              apiVersion: { type: "string" },
              name: { type: "string" },
              uid: { type: "string" },
            },
          },
        },
      },
      status: {
        type: "object",
        properties: { token: { type: "string" }, expirationTimestamp: { type: "string", format: "date-time" } },
      },
    },
  },
  subresources: { status: false },
});
