import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import { KUBECONFIG_KEY } from "./names.ts";

/** Fields of a Secret. */
export interface SecretContent {
  readonly type?: string;
  /** Base64-encoded values by key. */
  readonly data?: Readonly<Record<string, string>>;
}

export const SECRET: KindReference<SecretContent> = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
};

/** Returns the values of a Secret by key; none without a Secret. */
export function textsIn(secret: ObjectOf<SecretContent> | undefined): Readonly<Record<string, string>> {
  const data = Object.entries(secret?.data ?? {});
  return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

/** Returns the kubeconfig in a Secret, or `undefined` without one. A second base64 encoding, as KubeStellar writes it, is accepted. */
export function kubeconfigIn(secret: ObjectOf<SecretContent> | undefined): string | undefined {
  const data = secret?.data?.[KUBECONFIG_KEY];
  if (data === undefined || data === "") return undefined;
  const text = Buffer.from(data, "base64").toString("utf8");
  return /^[A-Za-z0-9+/=\s]+$/.test(text) ? Buffer.from(text, "base64").toString("utf8") : text;
}
