//! Compiles many mutants at once.
//!
//! A mutant is the code with one small change: another comparison or operator, another constant, a negation left out,
//! the least in place of the greatest. To compile each alone would take a day. Here every place that can be changed asks a
//! function whether its number is the active one, so that all mutants are one program, and an environment variable
//! chooses among them when the tests run.
//!
//! Usage: `mutants FIRST FILE [SKIPPED...]` rewrites a file in place, numbers its mutants from FIRST, leaves out those
//! skipped, and prints a line for each: number, line, change.

use proc_macro2::Span;
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Lit, parse_quote};

struct Rewriter {
    next: u32,
    skipped: Vec<u32>,
}

impl Rewriter {
    /// The number of a change, unless it is one to be left out.
    fn number(&mut self, span: Span, what: &str) -> Option<u32> {
        let number = self.next;
        self.next += 1;
        if self.skipped.contains(&number) {
            return None;
        }
        println!("{number}\t{}\t{what}", span.start().line);
        Some(number)
    }

    fn change(&mut self, place: &mut Expr, span: Span, what: &str, changed: &Expr) {
        if let Some(number) = self.number(span, what) {
            let old = place.clone();
            *place = parse_quote!((if crate::mutant::is(#number) { #changed } else { #old }));
        }
    }
}

fn other(op: &BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Lt(_) => parse_quote!(<=),
        BinOp::Le(_) => parse_quote!(<),
        BinOp::Gt(_) => parse_quote!(>=),
        BinOp::Ge(_) => parse_quote!(>),
        BinOp::Eq(_) => parse_quote!(!=),
        BinOp::Ne(_) => parse_quote!(==),
        BinOp::Add(_) => parse_quote!(-),
        BinOp::Sub(_) => parse_quote!(+),
        BinOp::Mul(_) => parse_quote!(/),
        BinOp::Div(_) => parse_quote!(*),
        BinOp::Rem(_) => parse_quote!(/),
        BinOp::And(_) => parse_quote!(||),
        BinOp::Or(_) => parse_quote!(&&),
        BinOp::Shl(_) => parse_quote!(>>),
        BinOp::Shr(_) => parse_quote!(<<),
        BinOp::BitAnd(_) => parse_quote!(|),
        BinOp::BitOr(_) => parse_quote!(&),
        BinOp::AddAssign(_) => parse_quote!(-=),
        BinOp::SubAssign(_) => parse_quote!(+=),
        _ => return None,
    })
}

/// Whether a condition binds names, which cannot be copied into two branches.
fn binds(expr: &Expr) -> bool {
    quote!(#expr).to_string().contains("let ")
}

impl VisitMut for Rewriter {
    fn visit_item_mod_mut(&mut self, item: &mut syn::ItemMod) {
        let is_test = item.attrs.iter().any(|attr| quote!(#attr).to_string().contains("test"));
        if !is_test {
            visit_mut::visit_item_mod_mut(self, item);
        }
    }

    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        if item.sig.constness.is_none() {
            self.visit_block_mut(&mut item.block);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut syn::ImplItemFn) {
        if item.sig.constness.is_none() {
            self.visit_block_mut(&mut item.block);
        }
    }

    // Constants, types, patterns, macros and assertions stay as they are.
    fn visit_item_const_mut(&mut self, _: &mut syn::ItemConst) {}
    fn visit_impl_item_const_mut(&mut self, _: &mut syn::ImplItemConst) {}
    fn visit_item_static_mut(&mut self, _: &mut syn::ItemStatic) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}
    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
    fn visit_expr_const_mut(&mut self, _: &mut syn::ExprConst) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let span = expr.span();
        // The inner changes first: both branches of an outer one hold them.
        if !matches!(expr, Expr::Binary(binary) if binds(&binary.left) || binds(&binary.right)) {
            visit_mut::visit_expr_mut(self, expr);
        }
        match expr.clone() {
            Expr::Binary(binary) if !binds(&binary.left) && !binds(&binary.right) => {
                if let Some(op) = other(&binary.op) {
                    let old = &binary.op;
                    let what = format!("{} becomes {}", quote!(#old), quote!(#op));
                    let changed = Expr::Binary(syn::ExprBinary { op, ..binary.clone() });
                    self.change(expr, span, &what, &changed);
                }
            }
            Expr::Unary(syn::ExprUnary { op: syn::UnOp::Not(_), expr: inner, .. }) => {
                self.change(expr, span, "! is left out", &inner);
            }
            Expr::Lit(syn::ExprLit { lit: Lit::Int(value), .. }) => {
                let changed: Expr = parse_quote!(#value + 1);
                self.change(expr, span, &format!("{value} becomes {value} + 1"), &changed);
            }
            Expr::Lit(syn::ExprLit { lit: Lit::Bool(value), .. }) => {
                let changed: Expr = parse_quote!(!#value);
                let what = format!("{} becomes {}", value.value, !value.value);
                self.change(expr, span, &what, &changed);
            }
            Expr::MethodCall(call) => {
                let name = match call.method.to_string().as_str() {
                    "min" => "max",
                    "max" => "min",
                    "any" => "all",
                    "all" => "any",
                    "is_none" => "is_some",
                    "is_some" => "is_none",
                    _ => return,
                };
                let what = format!("{} becomes {name}", call.method);
                let mut changed = call;
                changed.method = syn::Ident::new(name, Span::call_site());
                self.change(expr, span, &what, &Expr::MethodCall(changed));
            }
            _ => {}
        }
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let next = words.next().and_then(|word| word.parse().ok()).expect("a number");
    let path = words.next().expect("a file");
    let skipped = words.map(|word| word.parse().expect("a number")).collect();
    let text = std::fs::read_to_string(&path).expect("a file that can be read");
    let mut file = syn::parse_file(&text).expect("a file of Rust");
    let mut rewriter = Rewriter { next, skipped };
    rewriter.visit_file_mut(&mut file);
    std::fs::write(&path, prettyplease::unparse(&file)).expect("a file that can be written");
    println!("next\t{}", rewriter.next);
}
