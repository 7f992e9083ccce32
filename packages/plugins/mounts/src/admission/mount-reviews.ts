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

/** What an AdmissionReview holds. */
interface AdmissionReviewContent {
  readonly request?: Record<string, unknown>;
  readonly response?: Record<string, unknown>;
}

const ANYTHING: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** `admission.k8s.io/v1` AdmissionReview: what an API server asks of a webhook before it writes. It is only created; what it is answered is in it. */
export const AdmissionReview: Resource<AdmissionReviewContent> = new Resource<AdmissionReviewContent>({
  group: "admission.k8s.io",
  version: "v1",
  kind: "AdmissionReview",
  scope: "Cluster",
  description: "A write that an API server asks about. It is only created; the answer is in its response.",
  schema: { type: "object", properties: { request: ANYTHING, response: ANYTHING } },
});

/** What of a review's `request` is looked at. Its API server vouches for it. */
interface AdmissionRequest {
  readonly uid: string;
  readonly resource: { readonly group: string; readonly resource: string };
  readonly subResource?: string;
  readonly operation: string;
  readonly userInfo: ReviewedUser;
  /** What is to be; `null` where something is deleted. */
  readonly object?: object | null;
  /** What there is; `null` where something is created. */
  readonly oldObject?: object | null;
}

/** What somebody would do, and in which logical cluster. */
export interface SecretRequest {
  readonly cluster: string;
  readonly access: NamedSecret["access"];
}

/** Whether somebody may do that. */
export type MayGet = (
  asked: SecretRequest,
  who: { readonly user: User; readonly signal: AbortSignal },
) => Promise<boolean>;

type Naming = NamesSecrets & Pick<KubeObject, "metadata">;
type Review = ObjectOf<AdmissionReviewContent>;

/** Answers whether an object that names Secrets may be written as an API server asks: by who may get them. */
export class MountReviews implements Storage<Review> {
  /** No review is kept. */
  readonly lifecycle = "storage";
  readonly #mayGet: MayGet;

  constructor(mayGet: MayGet) {
    this.#mayGet = mayGet;
  }

  /** @throws ApiError 400 on what is no review of a Mount or ClusterProxy in a workspace; 503 when nobody can be asked: the write is refused then */
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
    // kcp says in which workspace a new object is, whatever its writer says; of a known one what is kept does.
    const cluster = clusterOf(before ?? object);
    if (cluster === "")
      throw ApiError.badRequest(
        "the object does not say in kcp.io/cluster where it is: this answers kcp, and no other",
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
    throw ApiError.badRequest(`request.resource: this answers about ${known}, and nothing else`);
  }
  if (!isNaming(asked?.object) || (asked?.oldObject && !isNaming(asked.oldObject)))
    throw ApiError.badRequest("request.object: this answers about what is created or changed: it has to have a spec");
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
