import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, STANDARD_VERBS } from "./built-in-kind.ts";
import { flag, keyed, objects, reference, text } from "./descriptions.ts";
import { finalizerProblems, itemsOf } from "./problems.ts";
import { serviceAccountMessage } from "./protobuf.ts";

/** What a ServiceAccount holds. */
export interface ServiceAccountContent {
  secrets?: { name?: string }[];
  imagePullSecrets?: { name?: string }[];
  automountServiceAccountToken?: boolean;
}

/** Of a Secret that is referred to only the name counts: it is in the same namespace. */
function prepare(object: KubeObject): void {
  if (object["secrets"] === undefined) return;
  object["secrets"] = itemsOf(object["secrets"]).map(({ name }) => (name === undefined ? {} : { name }));
}

/** `v1` ServiceAccount. Its `/token` is a `TokenRequest`. */
export const ServiceAccount: Resource<ServiceAccountContent> = new Resource<ServiceAccountContent>({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  scope: "Namespaced",
  shortNames: ["sa"],
  description: "ServiceAccount is an identity for programs, within one namespace.",
  schema: {
    type: "object",
    properties: {
      secrets: keyed("name", { ...objects("Secrets with its tokens.", {}), items: reference("A Secret.") }),
      imagePullSecrets: {
        ...objects("Secrets to pull images with.", { name: text("The Secret's name.") }),
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "name",
      },
      automountServiceAccountToken: flag("Whether pods get its token."),
    },
  },
  columns: { Age: AGE },
  protobuf: serviceAccountMessage,
  strategy: {
    generation: false,
    returnDeleted: true,
    unconditionalUpdate: true,
    prepare,
    problems: ({ metadata }) => finalizerProblems(metadata),
  },
});

export const serviceAccounts: BuiltInKind = { resource: ServiceAccount, verbs: STANDARD_VERBS };
