import { setTimeout as pause } from "node:timers/promises";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { waitForObject } from "../../server/objects.ts";
import { configMap, type DemoQuery, rows } from "./answers.ts";
import { ABOUT, ALL_SPACES, LOCAL } from "./names.ts";

/** How long what is made may take to answer, ms, and how long is waited before it is asked again. */
const [WITHIN, AGAIN] = [30_000, 200];

/** As whom they are made and asked: Alice and Bob are nobody there. */
const CONTEXT = "root";

/** Where Spaces are made. */
export interface SpacesPlace {
  readonly kubeconfig: string;
  /** Of the server. */
  readonly url: string;
  /** The path of the workspace that has them. */
  readonly spaces: string;
}

/**
 * Makes a provider besides the default one, Spaces of both, and in each an object that says which one it is, and leaves what is there as it is.
 * Resolves once all of them are seen together.
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
    if (items.length < ALL_SPACES.length) throw new Error(`${items.length} of ${ALL_SPACES.length} Spaces are seen`);
  });
}

/** What there is, one of them, and all of them as one. */
export async function spacesText({ kubeconfig, url, spaces: path }: SpacesPlace): Promise<string> {
  const as = { context: CONTEXT };
  const there = await rows(kubeconfig, THERE, [{ who: "what there is", ...as, server: `${url}/clusters/${path}` }]);
  const one = `${url}/services/spaces/${LOCAL}/edge-east`;
  const inOne = await rows(kubeconfig, configMap(ABOUT), [{ who: "in one, a process of its own", ...as, server: one }]);
  const together = { who: "in all of them, as one API server", ...as, server: url + TOGETHER };
  const all = await rows(kubeconfig, EACH, [together]);
  const head = `Spaces of two providers, in ${path}: workspaces below it, and processes that serve as it does:`;
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

/** What is still being followed, or started again on its data, answers after a moment. @throws what it says at last */
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
