/** The changes and the picture that the fixture shows. */

export const CHANGES = `diff --git a/cart/session.py b/cart/session.py
--- a/cart/session.py
+++ b/cart/session.py
@@ -38,13 +38,13 @@ class CartSession:
         self.store = store
         self.lock = Lock()

     def load(self, key: str) -> Cart:
-        cart = self.store.get(key)
-        with self.lock:
-            return cart or Cart.empty()
+        with self.lock:
+            cart = self.store.get(key)
+            return cart or Cart.empty()

     def save(self, cart: Cart) -> None:
-        self.store.put(cart.key, cart)
+        self.store.put(cart.key, cart, version=cart.version)
         self.saved += 1

@@ -58,3 +58,4 @@ class CartSession: close
     def close(self) -> None:
+        self.lock.release_all()
         self.store.close()
diff --git a/cart/lock.py b/cart/lock.py
--- a/cart/lock.py
+++ b/cart/lock.py
@@ -9,4 +9,8 @@ class Lock:
     def __enter__(self) -> None:
         self._held += 1

+    def release_all(self) -> None:
+        while self._held:
+            self._held -= 1
+
     def __exit__(self, *_: object) -> None:
diff --git a/tests/test_checkout.py b/tests/test_checkout.py
new file mode 100644
--- /dev/null
+++ b/tests/test_checkout.py
@@ -0,0 +1,6 @@
+from cart.session import CartSession
+
+
+def test_two_requests_of_one_person_see_one_cart(store: Store) -> None:
+    session = CartSession(store)
+    assert session.load("ann") is session.load("ann")
`;

export const FOLDER = [
  { name: "cart", kind: "folder", size: 0 },
  { name: "docs", kind: "folder", size: 0 },
  { name: "tests", kind: "folder", size: 0 },
  { name: "lock.py", kind: "file", size: 1240 },
  { name: "session.py", kind: "file", size: 5210 },
  { name: "README.md", kind: "file", size: 890 },
  { name: "latest", kind: "link", size: 0 },
] as const;

export const FILE = `"""One person's cart, kept over requests."""

from cart.lock import Lock


class CartSession:
    """Loads and saves a cart, one request at a time."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.lock = Lock()

    def load(self, key: str) -> Cart:
        with self.lock:
            cart = self.store.get(key)
            return cart or Cart.empty()
`;

const ORANGE = "\u001b[38;2;217;119;87m";
const GREEN = "\u001b[32m";
const PLAIN = "\u001b[0m";

/** What an agent's own terminal shows. */
export const PANE = [
  `${ORANGE}╭──────────────────────────────────────────────╮`,
  "│ ✻ Claude Code                                │",
  `╰──────────────────────────────────────────────╯${PLAIN}`,
  "",
  "\u001b[1m❯\u001b[0m The checkout test fails now and then.",
  "",
  `${GREEN}●${PLAIN} I will look at the cart’s lock first.`,
  "",
  `${GREEN}●${PLAIN} \u001b[1mBash\u001b[0m(pytest -q tests/checkout)`,
  "  ⎿  24 passed in 3.12s",
  "",
  "\u001b[33m✶ Herding… (42s · ↑ 1.2k tokens)\u001b[0m",
  "",
  "────────────────────────────────────────────────",
  "❯ ",
  "────────────────────────────────────────────────",
  "\u001b[2m  ? for shortcuts\u001b[0m\u001b[2A\r\u001b[2C",
].join("\r\n");

/** A sunrise in pixels, as an SVG that is drawn here and nowhere fetched. */
export const SUNRISE = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200" viewBox="0 0 32 20" shape-rendering="crispEdges">' +
    '<path fill="#2b1d3a" d="M0 0h32v6H0z"/><path fill="#6b2f4a" d="M0 6h32v4H0z"/><path fill="#d97757" d="M0 10h32v3H0z"/>' +
    '<path fill="#ffb454" d="M13 7h6v1h2v2h1v3H10v-3h1V8h2z"/><path fill="#13151a" d="M0 13h32v7H0z"/>' +
    '<path fill="#ffb454" opacity=".6" d="M11 14h10v1H11zM13 16h6v1h-6zM15 18h2v1h-2z"/></svg>',
)}`;
