import {
  ApiError,
  isJsonObject,
  type JsonSchema,
  type KindReference,
  type KubeObject,
  type ObjectOf,
} from "@virtual-workspaces/apimachinery";
import { Resource, User } from "@virtual-workspaces/framework";
import type { ReviewedUser } from "@virtual-workspaces/framework/authz";
import type { Scope, Storage, WriteOptions } from "@virtual-workspaces/framework/storage";
import { clusterOf } from "@virtual-workspaces/kcp";
import {
  KINDS_THAT_NAME_SECRETS,
  type NamedSecret,
  type NamesSecrets,
  namedSecrets,
} from "@virtual-workspaces/kcp/targets";

/** Content of an AdmissionReview. */
interface AdmissionReviewContent {
  readonly request?: Record<string, unknown>;
  readonly response?: Record<string, unknown>;
}

const ANYTHING: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** `admission.k8s.io/v1` AdmissionReview: an API server's request before a write. It is not stored; the response has the decision. */
export const AdmissionReview: Resource<AdmissionReviewContent> = new Resource<AdmissionReviewContent>({
  group: "admission.k8s.io",
  version: "v1",
  kind: "AdmissionReview",
  scope: "Cluster",
  description: "Review of a write for an API server. Reviews are only created; the response contains the decision.",
  schema: { type: "object", properties: { request: ANYTHING, response: ANYTHING } },
});

/** Fields of a review's `request` that the webhook reads. The API server sets them. */
interface AdmissionRequest {
  readonly uid: string;
  readonly resource: { readonly group: string; readonly resource: string };
  readonly subResource?: string;
  readonly operation: string;
  readonly userInfo: ReviewedUser;
  /** New object; `null` for a deletion. */
  readonly object?: object | null;
  /** Existing object; `null` for a creation. */
  readonly oldObject?: object | null;
}

/** User and Secret to check, in a logical cluster. */
export interface SecretRequest {
  readonly cluster: string;
  readonly access: NamedSecret["access"];
}

/** Returns whether the user may get the Secret. */
export type MayGet = (
  asked: SecretRequest,
  who: { readonly user: User; readonly signal: AbortSignal },
) => Promise<boolean>;

type Naming = NamesSecrets & Pick<KubeObject, "metadata">;
type Review = ObjectOf<AdmissionReviewContent>;

/** Reviews writes of objects that name Secrets: the author must be allowed to get these. */
export class MountReviews implements Storage<Review> {
  /** Reviews are not stored. */
  readonly lifecycle = "storage";
  readonly #mayGet: MayGet;

  constructor(mayGet: MayGet) {
    this.#mayGet = mayGet;
  }

  /** @throws ApiError 400 on an invalid review of a Mount or ClusterProxy; 503 when the check fails, which rejects the write */
  async create(_: Scope, { apiVersion, kind, request }: Review, { signal }: WriteOptions): Promise<Review> {
    const asked = mountRequest(request);
    const refusal = await this.#refusal(asked, signal);
    const { uid } = asked;
    const status = refusal === undefined ? {} : { status: { code: 403, reason: "Forbidden", message: refusal } };
    return { apiVersion, kind, metadata: {}, response: { uid, allowed: refusal === undefined, ...status } };
  }

  async #refusal(
    { object: given, oldObject, userInfo, resource }: AdmissionRequest,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const object = given as Naming;
    const before = (oldObject ?? undefined) as Naming | undefined;
    // kcp sets the annotation of a new object, whatever the client sends. For an existing object the stored one counts.
    const cluster = clusterOf(before ?? object);
    if (cluster === "")
      throw ApiError.badRequest(
        "the annotation kcp.io/cluster of the object is missing: only kcp may create these reviews",
      );
    const user = new User({ ...userInfo, name: userInfo.username ?? "" });
    for (const { access, refusal } of namedSecrets(kindOf(resource)?.kind ?? "", object, before))
      if (!(await this.#mayGet({ cluster, access }, { user, signal }))) return refusal;
    return undefined;
  }
}

/** @throws ApiError 400 */
function mountRequest(request: object | undefined): AdmissionRequest {
  const asked = request as Partial<AdmissionRequest> | undefined;
  if (kindOf(asked?.resource) === undefined || asked?.subResource) {
    const known = KINDS_THAT_NAME_SECRETS.map(({ plural, group }) => `${plural}.${group}`).join(" and ");
    throw ApiError.badRequest(`unsupported request.resource: use ${known}`);
  }
  if (!isNaming(asked?.object) || (asked?.oldObject && !isNaming(asked.oldObject)))
    throw ApiError.badRequest("request.object.spec is required: only creates and updates are reviewed");
  if (!asked?.uid || !asked.userInfo?.username)
    throw ApiError.badRequest("request.uid and request.userInfo.username are required");
  return asked as AdmissionRequest;
}

function kindOf(asked: AdmissionRequest["resource"] | undefined): KindReference | undefined {
  return KINDS_THAT_NAME_SECRETS.find(({ group, plural }) => group === asked?.group && plural === asked.resource);
}

function isNaming(object: unknown): boolean {
  return isJsonObject(object) && isJsonObject(object["spec"]) && isJsonObject(object["metadata"]);
}
