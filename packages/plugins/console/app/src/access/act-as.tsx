import { useState } from "preact/hooks";
import { asStatusError } from "../api/client.ts";
import { beginActing, session } from "../api/session.ts";
import { TextField } from "../kcp/dialogs/text-field.tsx";
import { listOf } from "./question.ts";
import { impersonationOf, mayI, type Question } from "./reviews.ts";
import { texts } from "./texts.ts";

/** Lets the tab act as another user, after the server has allowed it in this workspace. */
export function ActAs({ workspace }: { readonly workspace: string }) {
  const words = texts.act;
  const [user, setUser] = useState("");
  const [groups, setGroups] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { value } = session;
  const isActing = value.state === "signed-in" && value.acting !== undefined;
  const submit = async (event: Event) => {
    event.preventDefault();
    const subject = { user: user.trim(), groups: listOf(groups) };
    if (subject.user === "") return setError(words.empty);
    setBusy(true);
    try {
      setError(await denialOf(workspace, subject));
    } catch (cause) {
      setError(asStatusError(cause).message);
    }
    setBusy(false);
  };
  return (
    <section aria-labelledby="act-as">
      <h2 id="act-as">{words.heading}</h2>
      <p class="hint">{words.hint}</p>
      {isActing && <p class="muted">{words.already}</p>}
      {!isActing && (
        <form class="access-form" onSubmit={(event) => void submit(event)}>
          <TextField label={words.user} value={user} onValue={setUser} error={error} />
          <TextField label={words.groups} value={groups} onValue={setGroups} hint={words.groupsHint} />
          <button type="submit" disabled={isBusy}>
            {isBusy ? words.busy : words.submit}
          </button>
        </form>
      )}
    </section>
  );
}

/** Begins, or returns why the user may not. */
async function denialOf(
  workspace: string,
  subject: { readonly user: string; readonly groups: readonly string[] },
): Promise<string | undefined> {
  let denial: string | undefined;
  for (const rights of impersonationOf(subject)) {
    const denied = await firstDenied(workspace, rights);
    if (denied === undefined) {
      await beginActing({ username: subject.user, groups: subject.groups });
      return undefined;
    }
    denial ??= denied;
  }
  return denial;
}

/** Returns what the user may not do, in words. */
async function firstDenied(workspace: string, rights: readonly Question[]): Promise<string | undefined> {
  for (const right of rights) {
    const { allowed, reason = "" } = await mayI(workspace, right);
    if (!allowed) return texts.act.denied(`${right.resource} ${right.name}`, reason);
  }
  return undefined;
}
