import type { KindReference } from "@virtual-workspaces/apimachinery";

/** What a Secret holds. */
export interface SecretContent {
  readonly type?: string;
  /** In base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export const SECRET: KindReference<SecretContent> = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
};

export const NAMESPACE: KindReference = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
};
