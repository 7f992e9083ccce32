import { isJsonObject, memberOf } from "@virtual-workspaces/apimachinery";
import { type Entry, KubeconfigError, textOf } from "./config.ts";
import type { Part, Source } from "./credentials.ts";

/** The older way to get tokens (`auth-provider`: oidc, azure, gcp), as far as `@kubernetes/client-node` goes it. */
export async function authProvider(user: Entry): Promise<Source> {
  const at = `${user.at}.auth-provider`;
  const provider = memberOf(user.value, "auth-provider");
  if (!isJsonObject(provider)) throw new KubeconfigError(`${at} must be an object`);
  const name = textOf(provider, "name", at);
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  const cluster = { name: "cluster", server: "https://localhost", skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: "user", authProvider: provider });
  return {
    get: async (): Promise<Part> => {
      const options: { headers: Record<string, string> } = { headers: {} };
      try {
        await config.applyToHTTPSOptions(options);
      } catch (cause) {
        throw new KubeconfigError(`${at}: ${name} gives no token: ${(cause as Error).name}`, { cause });
      }
      const authorization = options.headers["Authorization"];
      if (authorization === undefined) throw new KubeconfigError(`${at}: ${name} gives no token: use exec instead`);
      return { authorization };
    },
  };
}
