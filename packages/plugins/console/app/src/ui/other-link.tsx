import { useState } from "preact/hooks";
import { asStatusError } from "../api/client.ts";
import { otherLink, session, signIn } from "../api/session.ts";
import { texts } from "../texts.ts";
import { Dialog } from "./dialog.tsx";

/** Lets the user choose whether the link that they have opened replaces their session by that of another user. */
export function OtherLinkDialog() {
  const [error, setError] = useState<string>();
  const link = otherLink.value;
  const { value } = session;
  if (link === undefined || value.state !== "signed-in") return null;
  const { code, username } = link;
  const current = value.user.username;
  const words = texts.otherLink;
  const stay = () => {
    otherLink.value = undefined;
  };
  const replace = async () => {
    try {
      await signIn({ code, replace: true });
      otherLink.value = undefined;
    } catch (cause) {
      setError(asStatusError(cause).message);
    }
  };
  return (
    <Dialog heading={words.heading(username)} onClose={stay}>
      <div class="link-choice">
        <p>{words.text(current, username)}</p>
        <p class="hint">{words.hint}</p>
        <p class="error" role="alert">
          {error}
        </p>
        <footer>
          <button type="button" onClick={() => void replace()}>
            {words.replace(username)}
          </button>
          <button type="button" class="primary" onClick={stay}>
            {words.stay(current)}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
