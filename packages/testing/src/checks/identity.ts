import { excerpt, expectSame, fail, skip } from "../assertions/expect.ts";
import { groupVersionPath } from "../assertions/report.ts";
import type { Answer } from "../http/answer.ts";
import type { CallOptions } from "../http/client.ts";
import type { ServerProbe } from "../probe/server-probe.ts";
import { askReview, type KnownUser, type ReviewedIdentity, readIdentity, SHARED } from "../probe/users.ts";
import type { ServerCheck } from "./check.ts";

const REQUESTS = 1_000;

/** Front-proxy headers of another user in the group of administrators. */
const REMOTE: Headers = {
  "X-Remote-User": "conformance-somebody-else",
  "X-Remote-Group": "system:masters",
  "X-Remote-Uid": "conformance-uid",
  "X-Remote-Extra-Conformance": "conformance",
};

/** The same headers with underscores: proxies that use CGI or WSGI treat `_` and `-` alike. */
const FORGED: readonly Headers[] = [
  REMOTE,
  Object.fromEntries(Object.entries(REMOTE).map(([name, value]) => [name.replaceAll("-", "_"), value])),
];

const SOMEBODY = "conformance-impersonated";

/** Impersonation headers that do not name a user. */
const NAMELESS: readonly Headers[] = [
  { "Impersonate-Group": "system:masters" },
  { "Impersonate-Uid": "conformance-uid" },
  { "Impersonate-Extra-Conformance": "conformance" },
];

/** Invalid token. It differs from the one of S2, so that a server that accepts this one is recognized. */
const NOBODYS = "conformance-not-a-token";

/** T12: no user gets the identity of another. */
export const identityChecks: readonly ServerCheck[] = [
  {
    id: "T12.1",
    title: `${REQUESTS} requests of several users, mixed on kept-alive connections, each get their own identity`,
    protects: "one user reads and writes as another",
    scope: "server",
    run: async ({ users: { all } }) => {
      if (all.length < 2) skip("needs the credentials of other users (others)");
      const known = await Promise.all(all.map(identified));
      const names = new Set(known.map(({ told }) => told.username));
      if (names.size < 2) skip(`needs users with different names, but all are ${[...names]}`);
      await Promise.all(Array.from({ length: SHARED }, (_, lane) => askMixed(known, lane)));
    },
  },
];

interface Identified extends KnownUser {
  readonly told: ReviewedIdentity;
}

async function identified(user: KnownUser): Promise<Identified> {
  return { ...user, told: readIdentity(await askReview(user.alone, "SelfSubjectReview")) };
}

/** Sends requests one after the other. Each lane begins with a different user, so that connections pass between users. */
async function askMixed(known: readonly Identified[], lane: number): Promise<void> {
  for (let sent = 0; sent < REQUESTS / SHARED; sent++) {
    const { among, told } = known[(lane + sent) % known.length] as Identified;
    const answer = await askReview(among, "SelfSubjectReview");
    expectSame(answer.request, "the user's own identity, ", { expected: told, actual: readIdentity(answer) });
  }
}

/** T13: only trusted clients may set an identity. */
export const identityHeaderChecks: readonly ServerCheck[] = [
  {
    id: "T13.1",
    title: "X-Remote-User, -Group, -Uid and -Extra, also with underscores, do not change the identity",
    protects: "every authenticated user can become an administrator",
    scope: "server",
    run: async (probe) => {
      const expected = await identityOf(probe);
      for (const headers of FORGED) {
        const answer = await ask(probe, { headers });
        expectSame(answer.request, "the same identity, ", { expected, actual: readIdentity(answer) });
      }
    },
  },
  {
    id: "T13.2",
    title: "X-Remote-User, -Group, -Uid and -Extra, also with underscores, do not authenticate a client",
    protects: "unauthenticated clients become administrators",
    scope: "server",
    run: async (probe) => {
      const [resource] = probe.resources;
      const collections = resource === undefined ? [] : [`${groupVersionPath(resource)}/${resource.name}`];
      let refused = 0;
      for (const path of ["/apis", ...collections]) {
        const { status } = await probe.get(path, { anonymous: true });
        if (![401, 403].includes(status)) continue;
        refused += 1;
        for (const headers of FORGED) {
          const answer = await probe.get(path, { anonymous: true, headers });
          if (![status, 429].includes(answer.status))
            fail(answer.request, `${status}, as without the headers`, excerpt(answer));
        }
      }
      if (refused === 0) skip("unauthenticated clients may read everything that was tried");
    },
  },
  {
    id: "T13.3",
    title: "Impersonate-User is applied or rejected with 403, never ignored",
    protects: "a proxy that impersonates its users acts with its own permissions",
    scope: "server",
    run: async (probe) => {
      await identityOf(probe);
      const answer = await ask(probe, { headers: { "Impersonate-User": SOMEBODY } });
      if (answer.status === 403) return;
      const { username } = readIdentity(answer);
      if (username !== SOMEBODY) fail(answer.request, `${SOMEBODY}, or 403`, username);
    },
  },
  {
    id: "T13.4",
    title: "Impersonate-Group, -Uid and -Extra without a user are rejected",
    protects: "a caller that drops groups keeps them, or gets others",
    scope: "server",
    run: async (probe) => {
      await identityOf(probe);
      for (const headers of NAMELESS) {
        const answer = await ask(probe, { headers });
        // Older versions of Kubernetes answer 500.
        const refused = answer.status >= 400 && answer.status <= 500;
        if (!refused) fail(answer.request, "4xx", excerpt(answer));
      }
    },
  },
  {
    id: "T13.5",
    title: "a second token is ignored, whether in a second Authorization header or in the same one",
    protects: "a proxy checks one token, and the server uses the other",
    scope: "server",
    run: async (probe) => {
      const { token } = probe.users;
      if (token === undefined) skip("the run has no token");
      const { status } = await probe.get("/apis", { token: NOBODYS });
      if (status !== 401) skip(`a wrong token gets ${status}, which S2 reports`);
      const forgeries = {
        "a second Authorization header": [NOBODYS, token],
        "a second token in its header": `${NOBODYS}, Bearer ${token}`,
      };
      for (const [what, forged] of Object.entries(forgeries)) {
        const answer = await probe.get("/apis", { token: forged });
        const expected = `401, or 400, to a wrong token and the run's in ${what}`;
        if (![400, 401, 403].includes(answer.status)) fail(answer.request, expected, excerpt(answer));
      }
    },
  },
];

type Headers = Readonly<Record<string, string>>;

function ask(probe: ServerProbe, options: CallOptions = {}): Promise<Answer> {
  return askReview((path, call) => probe.get(path, call), "SelfSubjectReview", options);
}

/** Returns the identity of the run without any of these headers. @throws CheckSkipped when the server does not return it */
async function identityOf(probe: ServerProbe): Promise<ReviewedIdentity> {
  return readIdentity(await ask(probe));
}
