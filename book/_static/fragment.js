// State of tables and figures in the address, "#devices:vendor=AMD;live-compare:first=h100_sxm",
// so that what a reader has chosen can be sent to another.
"use strict";
window.st = window.st || {};

(() => {
  const parts = () => decodeURI(location.hash.slice(1)).split(";").filter((part) => part.includes(":"));

  // The choices under a name, as {key: text}.
  function get(name) {
    const own = parts().find((part) => part.startsWith(`${name}:`));
    return own ? Object.fromEntries(new URLSearchParams(own.slice(name.length + 1))) : {};
  }

  function set(name, values) {
    const given = Object.entries(values).filter(([, value]) => value);
    const others = parts().filter((part) => !part.startsWith(`${name}:`));
    const own = given.length ? [`${name}:${new URLSearchParams(given)}`] : [];
    const hash = [...others, ...own].join(";");
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }

  st.fragment = { get, set };
})();
