import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, STANDARD_VERBS } from "./built-in-kind.ts";
import { flag, keyed, objects, reference, text } from "./descriptions.ts";
import { finalizerProblems, itemsOf } from "./problems.ts";

/** Fields of a ServiceAccount. */
export interface ServiceAccountContent {
  secrets?: { name?: string }[];
  imagePullSecrets?: { name?: string }[];
  automountServiceAccountToken?: boolean;
}

/** References to Secrets keep only the name: the Secret is in the same namespace. */
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
  description: "ServiceAccount is an identity for programs in a namespace.",
  schema: {
    type: "object",
    properties: {
      secrets: keyed("name", { ...objects("Secrets with tokens of the account.", {}), items: reference("A Secret.") }),
      imagePullSecrets: {
        ...objects("Secrets for pulling images.", { name: text("Name of the Secret.") }),
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "name",
      },
      automountServiceAccountToken: flag("Whether pods get a token of the account."),
    },
  },
  columns: { Age: AGE },
  strategy: {
    generation: false,
    returnDeleted: true,
    unconditionalUpdate: true,
    prepare,
    problems: ({ metadata }) => finalizerProblems(metadata),
  },
});

export const serviceAccounts: BuiltInKind = { resource: ServiceAccount, verbs: STANDARD_VERBS };
