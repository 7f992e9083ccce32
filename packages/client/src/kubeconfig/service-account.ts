import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { UserCredentials } from "./credentials.ts";
import type { KubeconfigOptions, LoadedKubeconfig } from "./options.ts";
import { tokenFile } from "./user.ts";

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Who a pod is to its cluster; `undefined` where this is none. @throws KubeconfigError on a token that cannot be read, when it is needed */
export async function serviceAccount({
  env = process.env,
  serviceAccount: folder = FOLDER,
}: KubeconfigOptions): Promise<LoadedKubeconfig | undefined> {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = env;
  if (host === "" || port === "") return undefined;
  const [ca, namespace, token] = await Promise.all(
    ["ca.crt", "namespace", "token"].map((name) => textIn(folder, name)),
  );
  if (token === undefined) return undefined;
  return {
    upstream: {
      url: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      tls: ca === undefined ? {} : { ca },
      credentials: new UserCredentials([tokenFile(join(folder, "token"), "service account")]),
    },
    context: "",
    namespace: namespace?.trim() || "default",
  };
}

async function textIn(folder: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, name), "utf8");
  } catch {
    return undefined;
  }
}
