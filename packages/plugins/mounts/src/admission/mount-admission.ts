import { subjectAccessReview, type Workspaces } from "@virtual-workspaces/forwarding";
import {
  type AuthorizeRequest,
  allow,
  defineVirtualWorkspace,
  deny,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import { AdmissionReview, type MayGet, MountReviews, type SecretRequest } from "./mount-reviews.ts";

/** Options of {@link mountAdmission}. */
export interface MountAdmissionOptions extends Pick<Workspaces, "upstream" | "everywhere"> {
  /**
   * Whether every client may send reviews. A kcp needs this, since it presents no credential to its webhooks. Security: allow only
   * its shards to connect then, since a client can find out who may get which Secret. @default false, only `system:masters`
   */
  readonly anonymous?: boolean;
  /** Receives errors. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** Name of the view, below `/services`. */
const NAME = "mount-admission";
/** Path for the creation of reviews. */
export const MOUNT_ADMISSION_PATH: string = `/services/${NAME}/apis/${AdmissionReview.group}/${AdmissionReview.version}/${AdmissionReview.plural}`;

/**
 * Returns a webhook for a kcp, which calls it before each write of a Mount or ClusterProxy. The webhook checks by the workspace's
 * rules that the author may get the named Secrets. `mountManifests({ webhook })` contains its configuration. The workspace server
 * needs no webhook, since it has the rule itself.
 */
export function mountAdmission({
  upstream,
  everywhere = upstream,
  anonymous = false,
  onError,
}: MountAdmissionOptions): VirtualWorkspace {
  const review = subjectAccessReview<SecretRequest>({
    upstream: everywhere,
    attributes: ({ params }) => params.access,
    // No caching, since permissions may just have changed.
    allowCache: 0,
    denyCache: 0,
    ...(onError && { onError }),
  });
  const mayGet: MayGet = async (asked, who) => (await review(questionOf(asked, who))).allowed;
  return defineVirtualWorkspace({
    name: NAME,
    path: "/",
    authorize: ({ user }) => (anonymous || user.in(MASTERS_GROUP) ? allow() : STRANGER),
    resources: [AdmissionReview.serve(new MountReviews(mayGet))],
    setup: () => review,
  });
}

const STRANGER = deny("only system:masters may create these reviews: set anonymous in mountAdmission for others");

/** Returns the get of the Secret in the form of a request. */
function questionOf(
  params: SecretRequest,
  who: Pick<AuthorizeRequest<SecretRequest>, "user" | "signal">,
): AuthorizeRequest<SecretRequest> {
  const nothing = { path: "", identity: "", subresource: "", longRunning: false, upgrade: false };
  return { ...nothing, ...params.access, ...who, params, isResource: true };
}
