import type { PhysicalSpace, SpaceAccess } from "./provider.ts";

/** The longest kubeconfig that is taken, characters: a Secret holds 1 MiB. */
const LONGEST = 256 * 1024;
const LONGEST_TEXT = 253;
const LONGEST_MESSAGE = 1024;

/** What a provider says, as far as it can be believed. @throws Error that says what cannot */
export function checkedSpace(said: PhysicalSpace): PhysicalSpace {
  const { name, id, phase, message, externalName, accessVersion } = said;
  if (!isText(name)) throw new Error(`it has a space of which it says no name of 1 to ${LONGEST_TEXT} characters`);
  const about = `of the space ${JSON.stringify(name)} it says`;
  if (phase !== "Initializing" && phase !== "Ready") throw new Error(`${about} no phase: Initializing or Ready`);
  for (const [field, value] of Object.entries({ id, externalName, accessVersion }))
    if (value !== undefined && !isText(value))
      throw new Error(`${about} an ${field} that is not 1 to ${LONGEST_TEXT} characters`);
  return {
    ...{ name, phase },
    ...(id !== undefined && { id }),
    ...(message !== undefined && phase !== "Ready" && { message: String(message).slice(0, LONGEST_MESSAGE) }),
    ...(externalName !== undefined && { externalName }),
    ...(accessVersion !== undefined && { accessVersion }),
  };
}

/** All of a list. @throws Error that says what cannot be believed */
export function checkedList(said: readonly PhysicalSpace[]): ReadonlyMap<string, PhysicalSpace> {
  if (!Array.isArray(said)) throw new Error("it has answered without a list of spaces");
  const spaces = new Map<string, PhysicalSpace>();
  for (const one of said as readonly PhysicalSpace[]) {
    const space = checkedSpace(one);
    if (spaces.has(space.name)) throw new Error(`it has two spaces of the name ${JSON.stringify(space.name)}`);
    spaces.set(space.name, space);
  }
  return spaces;
}

/** Whether a provider says the same of a space. */
export function sameSpace(one: PhysicalSpace, other: PhysicalSpace): boolean {
  const text = ({ name, id, phase, message, externalName, accessVersion }: PhysicalSpace): string =>
    JSON.stringify([name, id, phase, message, externalName, accessVersion]);
  return text(one) === text(other);
}

/** How a space is reached. @throws Error that says what cannot be believed */
export function checkedAccess(said: SpaceAccess): SpaceAccess {
  const { incluster, external } = said;
  for (const kubeconfig of [incluster, external])
    if (kubeconfig !== undefined && !(typeof kubeconfig === "string" && kubeconfig.length <= LONGEST))
      throw new Error(`its provider gives a kubeconfig that is no text of at most ${LONGEST} characters`);
  // What is empty is not there.
  if (!incluster && !external) throw new Error("its provider gives no access to it");
  return { ...(incluster && { incluster }), ...(external && { external }) };
}

const isText = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= LONGEST_TEXT;
