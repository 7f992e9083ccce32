import { useRef } from "preact/hooks";
import { signOut, type User } from "../api/session.ts";
import { accessHash } from "../route.ts";
import { texts } from "../texts.ts";
import { Middle } from "./middle.tsx";

interface AccountProps {
  readonly user: User;
  /** User as whom this tab acts. */
  readonly acting: User | undefined;
}

/** The signed-in user, with what they can do about it. */
export function Account({ user, acting }: AccountProps) {
  const ref = useRef<HTMLDetailsElement>(null);
  const close = () => ref.current?.removeAttribute("open");
  return (
    <details
      class="account"
      ref={ref}
      onFocusOut={({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node && ref.current?.contains(relatedTarget) === true)) close();
      }}
      onKeyDown={({ key }) => {
        if (key !== "Escape") return;
        close();
        ref.current?.querySelector("summary")?.focus();
      }}
    >
      <summary>
        <span class="visually-hidden">{texts.header.account} </span>
        <Middle text={user.username} />
        {acting !== undefined && (
          <>
            <span class="acts-as" role="img" aria-label={texts.header.actsAs}>
              →
            </span>
            <Middle text={acting.username} />
          </>
        )}
      </summary>
      <div class="popup">
        <p>{user.username}</p>
        <h2>{texts.header.groups}</h2>
        <ul>
          {(user.groups ?? []).map((group) => (
            <li key={group}>{group}</li>
          ))}
        </ul>
        <a class="button" href={accessHash()} onClick={close}>
          {texts.header.access}
        </a>
        <button type="button" onClick={() => void signOut()}>
          {texts.header.signOut}
        </button>
      </div>
    </details>
  );
}
