import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type ExportManifestsOptions, exportManifests, Mount } from "@virtual-workspaces/kcp";
import { KINDS_THAT_NAME_SECRETS } from "@virtual-workspaces/kcp/targets";
import { MOUNT_ADMISSION_PATH } from "./admission/mount-admission.ts";

/** Address of `mountAdmission` for a kcp. */
export interface MountWebhook {
  /** URL before `/services`: `https://host:6444`. */
  readonly url: string;
  /** CA certificate of that server, PEM. @default the CAs that the kcp trusts */
  readonly ca?: string;
}

/** Options of {@link mountManifests}. */
export interface MountManifestsOptions extends Pick<ExportManifestsOptions, "mayBind"> {
  /**
   * Webhook that lets a kcp check whether the author of a Mount may get its Secret. Security: without it, users who may write
   * Mounts get the access of all Secrets in their workspace. The workspace server needs no webhook, since it has the rule itself.
   * @default none
   */
  readonly webhook?: MountWebhook;
}

/**
 * Returns the manifests for {@link mountsView} in `root`: the APIExport `proxy.kcp.io` with the kind Mount. It has no permission
 * claims: the view reads Secrets as an administrator of the shard, and only those that Mounts name.
 *
 * @throws Error on an invalid webhook
 */
export function mountManifests({ webhook, ...options }: MountManifestsOptions = {}): KubeObject[] {
  return [
    ...exportManifests({ name: Mount.group, resources: [Mount], ...options }),
    ...(webhook === undefined ? [] : [mountWebhook(webhook)]),
  ];
}

const NAME = `secrets.${Mount.plural}.${Mount.group}`;

/**
 * Returns the configuration by which a kcp calls `mountAdmission` before each write of a Mount or ClusterProxy. A
 * ValidatingAdmissionPolicy cannot replace it: the `authorizer` of kcp has no workspace there, and denies all but `system:masters`.
 *
 * @throws Error on a URL that is not https, which API servers do not call
 */
function mountWebhook({ url, ca }: MountWebhook): KubeObject {
  if (!URL.canParse(url) || new URL(url).protocol !== "https:" || new URL(url).origin !== url)
    throw new Error(`mountManifests: invalid webhook.url ${url}: use https with host and port only`);
  const rule = {
    apiGroups: [Mount.group],
    apiVersions: ["*"],
    resources: KINDS_THAT_NAME_SECRETS.map(({ plural }) => plural),
    operations: ["CREATE", "UPDATE"],
  };
  const webhook = {
    name: NAME,
    clientConfig: {
      url: `${url}${MOUNT_ADMISSION_PATH}`,
      ...(ca !== undefined && { caBundle: Buffer.from(ca).toString("base64") }),
    },
    rules: [rule],
    // Status updates lend no Secret, so they continue while the webhook is unavailable.
    matchConditions: [{ name: "spec-has-changed", expression: "oldObject == null || oldObject.spec != object.spec" }],
    failurePolicy: "Fail",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const apiVersion = "admissionregistration.k8s.io/v1";
  return {
    apiVersion,
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: NAME },
    webhooks: [webhook],
  } as KubeObject;
}
