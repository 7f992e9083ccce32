/** Characters at the end of a long name that stay visible. */
const END = 14;

/** A name on one line, cut in the middle if there is no room: users such as service accounts differ at the end. */
export function Middle({ text }: { readonly text: string }) {
  const at = Math.max(0, text.length - END);
  return (
    <span class="middle" title={text}>
      <span class="clip">{text.slice(0, at)}</span>
      <span>{text.slice(at)}</span>
    </span>
  );
}
