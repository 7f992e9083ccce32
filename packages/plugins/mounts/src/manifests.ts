import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type ExportManifestsOptions, exportManifests, Mount } from "@virtual-workspaces/kcp";
import { KINDS_THAT_NAME_SECRETS } from "@virtual-workspaces/kcp/targets";
import { MOUNT_ADMISSION_PATH } from "./admission/mount-admission.ts";

/** Where a kcp finds `mountAdmission`. */
export interface MountWebhook {
  /** Before `/services`: `https://host:6444`. */
  readonly url: string;
  /** Who certifies the server there, PEM. @default as the kcp trusts */
  readonly ca?: string;
}

/** What {@link mountManifests} is given. */
export interface MountManifestsOptions extends Pick<ExportManifestsOptions, "mayBind"> {
  /**
   * Where a kcp asks whether whoever writes a Mount may get its Secret: without it whoever may write Mounts there has what the Secrets
   * open that are in their workspace. The workspace server has that rule itself. @default nobody is asked
   */
  readonly webhook?: MountWebhook;
}

/**
 * What must be there for {@link mountsView} to have mounts, in `root`: the APIExport `proxy.kcp.io` with the kind Mount. It claims nothing
 * of the workspaces that bind it: the view reads Secrets as an administrator of the shard, and those alone that Mounts name.
 *
 * @throws Error on a webhook that cannot be asked
 */
export function mountManifests({ webhook, ...options }: MountManifestsOptions = {}): KubeObject[] {
  return [
    ...exportManifests({ name: Mount.group, resources: [Mount], ...options }),
    ...(webhook === undefined ? [] : [mountWebhook(webhook)]),
  ];
}

const NAME = `secrets.${Mount.plural}.${Mount.group}`;

/**
 * Has a kcp ask `mountAdmission` before a Mount, or a ClusterProxy, is written. A ValidatingAdmissionPolicy cannot say it: kcp asks its `authorizer` about no
 * workspace, and refuses everybody but masters.
 *
 * @throws Error on a URL that is not https, which an API server does not ask
 */
function mountWebhook({ url, ca }: MountWebhook): KubeObject {
  if (!URL.canParse(url) || new URL(url).protocol !== "https:" || new URL(url).origin !== url)
    throw new Error(`mountManifests: webhook.url must be https, host and port, and nothing behind it; it is ${url}`);
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
    // What controllers write beside the spec lends no Secret to anybody: it goes on while this is away.
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
