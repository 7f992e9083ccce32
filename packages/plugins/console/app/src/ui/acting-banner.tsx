import { useEffect } from "preact/hooks";
import { endActing, type User } from "../api/session.ts";
import { texts } from "../texts.ts";
import { announce } from "./announce.tsx";

interface ActingBannerProps {
  readonly acting: User;
  /** The signed-in user. */
  readonly user: User;
}

/** Says as whom this tab acts, and ends it. */
export function ActingBanner({ acting, user }: ActingBannerProps) {
  const words = texts.acting;
  const groups = acting.groups ?? [];
  useEffect(() => announce(`${words.as} ${acting.username}`), [acting.username]);
  const stop = async () => {
    await endActing();
    announce(words.ended(user.username));
  };
  return (
    <section class="banner acting" aria-label={words.label}>
      <p>
        {words.as} <strong>{acting.username}</strong>
        {groups.length > 0 && ` ${words.groups(groups.join(", "))}`}. {words.signedInAs(user.username)}
      </p>
      <button type="button" onClick={() => void stop()}>
        {words.end}
      </button>
    </section>
  );
}
