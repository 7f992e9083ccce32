import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { workspacePath } from "../api/base.ts";
import { asStatusError, request } from "../api/client.ts";
import { navigate, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import type { Workspace } from "./workspace.ts";

export const goToIsOpen = signal(false);

/** Goes to a workspace that the tree does not show, for example below one that the user may not list. */
export function GoToDialog() {
  return goToIsOpen.value ? <GoToForm /> : null;
}

function GoToForm() {
  const [path, setPath] = useState("");
  const [error, setError] = useState<string>();
  const close = () => {
    goToIsOpen.value = false;
  };
  const enter = (workspace: string) => {
    close();
    navigate(routeTo({ workspace }));
  };
  const goHome = async () => {
    try {
      const home = await readHome();
      const path = /\/clusters\/([^/?]+)/.exec(home.spec?.URL ?? "")?.[1];
      enter(decodeURIComponent(path ?? home.spec?.cluster ?? ""));
    } catch (cause) {
      setError(asStatusError(cause).message);
    }
  };
  return (
    <Dialog heading={texts.goTo.heading} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (path.trim() !== "") enter(path.trim());
        }}
      >
        <Field label={texts.goTo.path} hint={texts.goTo.homeHint} error={error}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              value={path}
              placeholder="root:acme"
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setPath(currentTarget.value)}
            />
          )}
        </Field>
        <footer>
          <button type="button" onClick={() => void goHome()}>
            {texts.goTo.home}
          </button>
          <button type="submit" class="primary" disabled={path.trim() === ""}>
            {texts.goTo.submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const ATTEMPTS = 20;

/** Reads the home workspace of the user. The server creates it at the first request, and rejects requests until it is there. */
async function readHome(): Promise<Workspace> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const home = await request<Workspace>(`${workspacePath("root")}/apis/tenancy.kcp.io/v1alpha1/workspaces/~`);
      if (home.status?.phase === "Ready" || attempt === ATTEMPTS) return home;
    } catch (cause) {
      if (!asStatusError(cause).isTransient || attempt === ATTEMPTS) throw cause;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
