import { expectCode, fail, skip } from "../assertions/expect.ts";
import { show } from "../assertions/json.ts";
import { mediaType } from "../http/answer.ts";
import { ABSENT, type KubeconfigAnswer, type ProviderCheck, type ProviderProbe } from "./provider-probe.ts";
import type { ListedSpace } from "./space-bodies.ts";

/** So many spaces are looked at one by one. */
const LOOKED_AT = 20;
const LONGEST = 256 * 1024;

/** P2: lists, and spaces by their names. */
export const listChecks: readonly ProviderCheck[] = [
  {
    id: "P2.1",
    title: "a list has spaces in the order of their names, each once",
    protects: "pages leave spaces out, which are then taken for deleted",
    run: async (probe) => {
      const { answer, spaces } = await probe.list();
      const names = spaces.map(({ name }) => name);
      const wrong = names.find((name, at) => at > 0 && name <= (names[at - 1] ?? ""));
      if (wrong !== undefined) fail(answer.request, "names that grow", show(names));
    },
  },
  {
    id: "P2.2",
    title: "a space is by its name as it is in the list",
    protects: "a space is taken for deleted, or for another one",
    run: async (probe) => {
      for (const space of (await probe.list()).spaces.slice(0, LOOKED_AT)) await isThere(probe, space);
    },
  },
  {
    id: "P2.3",
    title: "pages have together what the list has, and each no more than was asked for",
    protects: "spaces that are on no page are taken for deleted",
    run: pagesAgree,
  },
  {
    id: "P2.4",
    title: "a limit and a page that are none are refused",
    protects: "a list begins anew, or ends early, without a word",
    run: async (probe) => {
      for (const query of [{ limit: "many" }, { limit: -1 }, { limit: 1, continue: "conformance no page" }])
        probe.bodies.refusal(await probe.call("/v1/spaces", { query }), [400, 410]);
    },
  },
];

/** One that has gone meanwhile is nobody's fault. */
async function isThere(probe: ProviderProbe, listed: ListedSpace): Promise<void> {
  const answer = await probe.space(listed.name);
  if (answer.status === 404) {
    const { spaces } = await probe.list();
    if (spaces.some(({ name }) => name === listed.name)) fail(answer.request, "the space, which is listed", "404");
    return;
  }
  const { name, id } = probe.bodies.ok("Space", answer) as unknown as ListedSpace;
  if (name !== listed.name) fail(answer.request, show({ name: listed.name }), show({ name }));
  if (id === listed.id) return;
  const again = (await probe.list()).spaces.find((one) => one.name === name);
  if (again?.id !== id) fail(answer.request, show({ id: again?.id }), show({ id }));
}

async function pagesAgree(probe: ProviderProbe): Promise<void> {
  // Others may make and delete spaces meanwhile: what is there before and after is on a page.
  const before = new Set((await probe.list()).spaces.map(({ name }) => name));
  const limit = Math.max(1, Math.ceil(before.size / 3));
  const paged = new Set<string>();
  let last = "";
  let next: string | undefined;
  do {
    const { answer, spaces, more } = await probe.list({ limit, continue: next });
    if (spaces.length > limit) fail(answer.request, `${limit} spaces at most`, `${spaces.length}`);
    if (more !== undefined && spaces.length === 0) fail(answer.request, "a space, as there are more", "none");
    for (const { name } of spaces) {
      if (name <= last) fail(answer.request, `names behind ${show(last)}`, show(name));
      paged.add(name);
      last = name;
    }
    next = more;
  } while (next !== undefined);
  const { answer, spaces } = await probe.list();
  const missing = spaces.find(({ name }) => before.has(name) && !paged.has(name));
  if (missing !== undefined) fail(answer.request, `${show(missing.name)} on a page, as in the list`, show([...paged]));
}

/** P5: how spaces are reached. */
export const kubeconfigChecks: readonly ProviderCheck[] = [
  {
    id: "P5.1",
    title: "a space that is ready has a kubeconfig that runs nothing, and names no files",
    protects: "whoever uses the space would run what a stranger says, or cannot use it",
    run: async (probe) => {
      for (const answer of await kubeconfigs(probe)) await expectKubeconfig(answer);
    },
  },
  {
    id: "P5.2",
    title: "no cache keeps a kubeconfig",
    protects: "credentials are where nobody looks for them",
    run: async (probe) => {
      for (const { headers, request } of await kubeconfigs(probe))
        if (!(headers["cache-control"] ?? "").includes("no-store"))
          fail(request, "Cache-Control: no-store", headers["cache-control"] ?? "nothing");
    },
  },
  {
    id: "P5.3",
    title: "from where a space is to be reached has to be said",
    protects: "a space is reached by an address that leads nowhere from there",
    run: async (probe) => {
      const { name } = await probe.ready();
      for (const query of [{}, { scope: "conformance" }])
        probe.bodies.refusal(await probe.kubeconfig(name, { query }), [400]);
    },
  },
  {
    id: "P5.4",
    title: "of a space that is not there it is a 404 about the space",
    protects: "what a proxy says is taken for what the provider says",
    run: async (probe) => {
      const answer = await probe.kubeconfig(ABSENT, { query: { scope: "external" } });
      probe.bodies.absent(answer, ABSENT);
    },
  },
];

async function kubeconfigs(probe: ProviderProbe): Promise<readonly KubeconfigAnswer[]> {
  const { name } = await probe.ready();
  const answers: KubeconfigAnswer[] = [];
  for (const scope of ["incluster", "external"]) answers.push(await probe.kubeconfig(name, { query: { scope } }));
  if (answers.some(({ status }) => status === 409)) skip(`the space ${name} is not ready any more`);
  for (const answer of answers) expectCode(answer, [200]);
  return answers;
}

/** What is told holds nothing of it. */
async function expectKubeconfig({ request, text, ...answer }: KubeconfigAnswer): Promise<void> {
  if (mediaType(answer) !== "application/yaml")
    fail(request, "application/yaml", mediaType(answer) || "no content type");
  if (Buffer.byteLength(text) > LONGEST) fail(request, `${LONGEST} bytes at most`, `${Buffer.byteLength(text)}`);
  const { SecretFault, secretKubeconfig } = await import("@virtual-workspaces/kcp/targets");
  try {
    const { credential } = secretKubeconfig(text);
    if (credential === undefined) fail(request, "a kubeconfig with a user", "one that names nobody");
  } catch (error) {
    if (!(error instanceof SecretFault)) throw error;
    fail(request, "a kubeconfig that stands alone", error.message);
  }
}
