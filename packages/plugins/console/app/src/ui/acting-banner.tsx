import { endActing, type User } from "../api/session.ts";
import { texts } from "../texts.ts";

interface ActingBannerProps {
  readonly acting: User;
  /** The signed-in user. */
  readonly user: User;
}

/** Says as whom this tab acts, and ends it. */
export function ActingBanner({ acting, user }: ActingBannerProps) {
  const words = texts.acting;
  const groups = acting.groups ?? [];
  return (
    <section class="banner acting" aria-label={words.label}>
      <p>
        {words.as} <strong>{acting.username}</strong>
        {groups.length > 0 && ` ${words.groups(groups.join(", "))}`}. {words.signedInAs(user.username)}
      </p>
      <button type="button" onClick={() => void endActing()}>
        {words.end}
      </button>
    </section>
  );
}
