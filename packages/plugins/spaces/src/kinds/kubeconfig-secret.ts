import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { SecretContent } from "./built-in.ts";
import { KUBECONFIG_KEY } from "./names.ts";

/** The kubeconfig in a Secret, `undefined` if there is none: plain, or in base64 once more, as the reference has it. */
export function kubeconfigIn(secret: ObjectOf<SecretContent> | undefined): string | undefined {
  const data = secret?.data?.[KUBECONFIG_KEY];
  if (data === undefined || data === "") return undefined;
  const text = Buffer.from(data, "base64").toString("utf8");
  return /^[A-Za-z0-9+/=\s]+$/.test(text) ? Buffer.from(text, "base64").toString("utf8") : text;
}
