import type { ServerCheck } from "../check.ts";
import { expectSame } from "../expect.ts";
import { skip } from "../outcome.ts";
import { askReview, readIdentity, type ToldIdentity } from "../review.ts";
import { type KnownUser, SHARED } from "../users.ts";

const REQUESTS = 1_000;

/** T12: nobody is taken for another. */
export const identityChecks: readonly ServerCheck[] = [
  {
    id: "T12.1",
    title: `${REQUESTS} requests of several users, mixed on kept connections, are each answered as their own`,
    protects: "one user reads and writes as another",
    scope: "server",
    run: async ({ users: { all } }) => {
      if (all.length < 2) skip("needs the credentials of other users (others)");
      const known = await Promise.all(all.map(identified));
      const names = new Set(known.map(({ told }) => told.username));
      if (names.size < 2) skip(`needs users of different names, these are all ${[...names]}`);
      await Promise.all(Array.from({ length: SHARED }, (_, lane) => askMixed(known, lane)));
    },
  },
];

interface Identified extends KnownUser {
  readonly told: ToldIdentity;
}

async function identified(user: KnownUser): Promise<Identified> {
  return { ...user, told: readIdentity(await askReview(user.alone, "SelfSubjectReview")) };
}

/** One request after the other; lanes begin with different users, so that connections go from one to the next. */
async function askMixed(known: readonly Identified[], lane: number): Promise<void> {
  for (let sent = 0; sent < REQUESTS / SHARED; sent++) {
    const { among, told } = known[(lane + sent) % known.length] as Identified;
    const answer = await askReview(among, "SelfSubjectReview");
    expectSame(answer.request, "the user's own identity, ", { expected: told, actual: readIdentity(answer) });
  }
}
