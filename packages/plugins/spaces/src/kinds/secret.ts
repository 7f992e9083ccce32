import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import { KUBECONFIG_KEY } from "./names.ts";

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

/** The kubeconfig in a Secret, `undefined` if there is none: plain, or in base64 once more, as the reference has it. */
export function kubeconfigIn(secret: ObjectOf<SecretContent> | undefined): string | undefined {
  const data = secret?.data?.[KUBECONFIG_KEY];
  if (data === undefined || data === "") return undefined;
  const text = Buffer.from(data, "base64").toString("utf8");
  return /^[A-Za-z0-9+/=\s]+$/.test(text) ? Buffer.from(text, "base64").toString("utf8") : text;
}
