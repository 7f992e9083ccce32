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

/** What {@link mountAdmission} is over. */
export interface MountAdmissionOptions extends Pick<Workspaces, "upstream" | "everywhere"> {
  /**
   * Whether it answers whoever can connect. A kcp needs that, which shows its webhooks no credential: let its shards alone connect then,
   * since who does learns who may get which Secret. @default false, members of `system:masters` alone
   */
  readonly anonymous?: boolean;
  /** Told what goes wrong. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** Where it is, below `/services`. */
const NAME = "mount-admission";
/** The path at which reviews are created. */
export const MOUNT_ADMISSION_PATH: string = `/services/${NAME}/apis/${AdmissionReview.group}/${AdmissionReview.version}/${AdmissionReview.plural}`;

/**
 * A webhook for a kcp, which asks it before a Mount, or a ClusterProxy, is written: whether whoever writes it may get the Secrets that it names, as that
 * workspace's rules say. The configuration for it is among `mountManifests({ webhook })`. Beside the workspace server nobody needs it,
 * which has the rule itself.
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
    // Whoever has just been let, or not any more, is asked about again.
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

const STRANGER = deny("only system:masters ask this, unless mountAdmission has anonymous");

/** What they would do, in the words of a request. */
function questionOf(
  params: SecretRequest,
  who: Pick<AuthorizeRequest<SecretRequest>, "user" | "signal">,
): AuthorizeRequest<SecretRequest> {
  const nothing = { path: "", identity: "", subresource: "", longRunning: false, upgrade: false };
  return { ...nothing, ...params.access, ...who, params, isResource: true };
}
