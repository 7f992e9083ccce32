import { setTimeout as pause } from "node:timers/promises";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { waitForObject } from "../../server/objects.ts";
import { configMap, type DemoQuery, rows } from "./answers.ts";
import { ABOUT, ALL_SPACES, LOCAL } from "./names.ts";

/** Time limit for new objects to answer, and delay between attempts, ms. */
const [WITHIN, AGAIN] = [30_000, 200];

/** Context that creates and reads them: Alice and Bob have no access there. */
const CONTEXT = "root";

/** Place of the Spaces. */
export interface SpacesPlace {
  readonly kubeconfig: string;
  /** URL of the server. */
  readonly url: string;
  /** Path of the workspace with the Spaces. */
  readonly spaces: string;
}

/**
 * Creates a provider besides the default one, Spaces of both, and in each an object that names it. Existing objects stay
 * unchanged. Resolves when the view shows all Spaces.
 *
 * @throws ApiError, TransportError
 */
export async function makeSpaces({ kubeconfig, url, spaces: path }: SpacesPlace): Promise<void> {
  const { upstream, cluster = "" } = await loadKubeconfig({ file: kubeconfig, context: CONTEXT });
  const at = (path: string): Client => new Client({ upstream: { ...upstream, url: url + path } });
  await using root = new Client({ upstream, cluster });
  const management = root.cluster(path);
  const providers = management.resource(SpaceProviderDesc);
  await providers.apply({ metadata: { name: LOCAL }, spec: { ProviderType: "processes" } });
  const spaces = management.resource(Space).in("default");
  await Promise.all(
    ALL_SPACES.map(async ({ provider, name }) => {
      await spaces.apply({ metadata: { name }, spec: { SpaceProviderDescName: provider } });
      await waitForObject(spaces, name, ({ status }) => (status?.Phase === "Ready" ? true : undefined));
      await using space = at(`/services/spaces/${provider}/${name}`);
      const about = { metadata: { name: ABOUT }, data: { provider, space: name } };
      await soon(() => space.resource(ConfigMap).in("default").apply(about));
    }),
  );
  await using all = at(TOGETHER);
  await soon(async () => {
    const { items } = await all.resource(ConfigMap).list({ fields: NAMED });
    if (items.length < ALL_SPACES.length)
      throw new Error(`the view shows ${items.length} of ${ALL_SPACES.length} Spaces`);
  });
}

/** Shows the Spaces, one of them, and all of them as one. */
export async function spacesText({ kubeconfig, url, spaces: path }: SpacesPlace): Promise<string> {
  const as = { context: CONTEXT };
  const there = await rows(kubeconfig, THERE, [{ who: "all Spaces", ...as, server: `${url}/clusters/${path}` }]);
  const one = `${url}/services/spaces/${LOCAL}/edge-east`;
  const inOne = await rows(kubeconfig, configMap(ABOUT), [
    { who: "in one Space, a process of its own", ...as, server: one },
  ]);
  const together = { who: "in all Spaces, as one API server", ...as, server: url + TOGETHER };
  const all = await rows(kubeconfig, EACH, [together]);
  const head = `Spaces of two providers in ${path}: workspaces below it, and processes of the same program:`;
  return [head, ...there, ...inOne, ...all, ""].join("\n");
}

const THERE: DemoQuery = {
  get: ["spaces", "-A"],
  ask: async (client) => {
    const { items } = await client.resource(Space).list();
    return items.map(({ metadata, spec }) => `${metadata.name}=${spec.SpaceProviderDescName}`).join(" ");
  },
};

const NAMED = `metadata.name=${ABOUT}`;

const EACH: DemoQuery = {
  get: ["configmaps", `--field-selector=${NAMED}`],
  ask: async (client) => {
    const { items } = await client.resource(ConfigMap).in("default").list({ fields: NAMED });
    return items.map(({ data = {} }) => `${data["provider"]}/${data["space"]}`).join(" ");
  },
};

const TOGETHER = "/services/spaces/*/*";

/** Repeats a request while the Space is still connecting or starting. @throws the last error */
async function soon<T>(ask: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + WITHIN; ; ) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > end) throw error;
      await pause(AGAIN);
    }
  }
}
