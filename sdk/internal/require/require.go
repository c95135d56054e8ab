// Package require holds the checks of the SDK's tests. Each of them ends the test if it does not hold. It needs nothing but the standard
// library, so that who imports the SDK gets no module for the sake of its tests.
package require

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// check ends the test unless ok. About is a text with its values, or nothing.
func check(t testing.TB, ok bool, about []any, format string, values ...any) {
	t.Helper()
	if ok {
		return
	}
	message := fmt.Sprintf(format, values...)
	if text, isFormat := first(about).(string); isFormat && len(about) > 1 {
		message += ": " + fmt.Sprintf(text, about[1:]...)
	} else if len(about) > 0 {
		message += ": " + fmt.Sprint(about...)
	}
	t.Fatal(message)
}

func first(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// True wants a condition that holds.
func True(t testing.TB, ok bool, about ...any) {
	t.Helper()
	check(t, ok, about, "it is false")
}

// False wants a condition that does not hold.
func False(t testing.TB, ok bool, about ...any) {
	t.Helper()
	check(t, !ok, about, "it is true")
}

// Equal wants the same type and the same value, however deep.
func Equal(t testing.TB, want, got any, about ...any) {
	t.Helper()
	check(t, same(want, got), about, "it is\n%#v\nand not\n%#v\n", got, want)
}

// NotEqual wants another type or another value.
func NotEqual(t testing.TB, unwanted, got any, about ...any) {
	t.Helper()
	check(t, !same(unwanted, got), about, "it is %#v", got)
}

// Same wants two pointers to one thing.
func Same(t testing.TB, want, got any, about ...any) {
	t.Helper()
	pointers := reflect.ValueOf(want).Kind() == reflect.Pointer && reflect.ValueOf(got).Kind() == reflect.Pointer
	check(t, pointers && want == got, about, "%#v and %#v are not one", want, got)
}

// Nil wants nil, of any type.
func Nil(t testing.TB, got any, about ...any) {
	t.Helper()
	check(t, isNil(got), about, "it is %#v and not nil", got)
}

// Zero wants the zero value.
func Zero(t testing.TB, got any, about ...any) {
	t.Helper()
	check(t, got == nil || reflect.ValueOf(got).IsZero(), about, "it is %#v and not zero", got)
}

// Empty wants nil, a zero value, or what has no elements.
func Empty(t testing.TB, got any, about ...any) {
	t.Helper()
	check(t, isEmpty(got), about, "it is %#v and not empty", got)
}

// NotEmpty wants what is neither nil nor zero, nor without elements.
func NotEmpty(t testing.TB, got any, about ...any) {
	t.Helper()
	check(t, !isEmpty(got), about, "it is empty")
}

// Len wants so many elements.
func Len(t testing.TB, got any, want int, about ...any) {
	t.Helper()
	length := reflect.ValueOf(got).Len()
	check(t, length == want, about, "it has %d elements and not %d: %#v", length, want, got)
}

// Greater wants a > b.
func Greater[T cmp.Ordered](t testing.TB, a, b T, about ...any) {
	t.Helper()
	check(t, a > b, about, "%v is not greater than %v", a, b)
}

// GreaterOrEqual wants a >= b.
func GreaterOrEqual[T cmp.Ordered](t testing.TB, a, b T, about ...any) {
	t.Helper()
	check(t, a >= b, about, "%v is less than %v", a, b)
}

// Less wants a < b.
func Less[T cmp.Ordered](t testing.TB, a, b T, about ...any) {
	t.Helper()
	check(t, a < b, about, "%v is not less than %v", a, b)
}

// Contains wants a part of a text, an element of a slice, or a key of a map.
func Contains(t testing.TB, all, part any, about ...any) {
	t.Helper()
	check(t, contains(t, all, part), about, "%#v does not contain %#v", all, part)
}

// NotContains wants none of what Contains looks for.
func NotContains(t testing.TB, all, part any, about ...any) {
	t.Helper()
	check(t, !contains(t, all, part), about, "%#v contains %#v", all, part)
}

// ElementsMatch wants the same elements, as often, in any order.
func ElementsMatch[T comparable](t testing.TB, want, got []T, about ...any) {
	t.Helper()
	count := map[T]int{}
	for _, element := range want {
		count[element]++
	}
	for _, element := range got {
		count[element]--
	}
	for element, more := range count {
		check(t, more == 0, about, "%#v is there %d times too often or, below 0, too rarely", element, -more)
	}
}

// Regexp wants a text that matches a pattern.
func Regexp(t testing.TB, pattern, got string, about ...any) {
	t.Helper()
	check(t, regexp.MustCompile(pattern).MatchString(got), about, "%q does not match %s", got, pattern)
}

// JSONEq wants the same JSON, whatever its spaces and the order of its keys.
func JSONEq(t testing.TB, want, got string, about ...any) {
	t.Helper()
	var a, b any
	NoError(t, json.Unmarshal([]byte(want), &a), want)
	NoError(t, json.Unmarshal([]byte(got), &b), got)
	check(t, reflect.DeepEqual(a, b), about, "it is\n%s\nand not\n%s\n", got, want)
}

// NoError wants no error.
func NoError(t testing.TB, err error, about ...any) {
	t.Helper()
	check(t, err == nil, about, "the error is %v", err)
}

// Error wants an error.
func Error(t testing.TB, err error, about ...any) {
	t.Helper()
	check(t, err != nil, about, "there is no error")
}

// ErrorIs wants an error that is another one, or wraps it.
func ErrorIs(t testing.TB, err, want error, about ...any) {
	t.Helper()
	check(t, errors.Is(err, want), about, "the error is %v and not %v", err, want)
}

// ErrorAs wants an error of a type, or one that wraps it. Target points to a variable of that type.
func ErrorAs(t testing.TB, err error, target any, about ...any) {
	t.Helper()
	check(t, errors.As(err, target), about, "the error is %v and no %T", err, target)
}

// EqualError wants an error that says exactly this.
func EqualError(t testing.TB, err error, want string, about ...any) {
	t.Helper()
	check(t, err != nil && err.Error() == want, about, "the error is %q and not %q", fmt.Sprint(err), want)
}

// ErrorContains wants an error that says this among others.
func ErrorContains(t testing.TB, err error, part string, about ...any) {
	t.Helper()
	check(t, err != nil && strings.Contains(err.Error(), part), about, "the error is %q, without %q", fmt.Sprint(err), part)
}

func same(a, b any) bool {
	x, isBytes := a.([]byte)
	y, areBytes := b.([]byte)
	if isBytes && areBytes && x != nil && y != nil {
		return bytes.Equal(x, y)
	}
	return reflect.DeepEqual(a, b)
}

func isNil(got any) bool {
	if got == nil {
		return true
	}
	switch v := reflect.ValueOf(got); v.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice, reflect.UnsafePointer:
		return v.IsNil()
	}
	return false
}

func isEmpty(got any) bool {
	if got == nil {
		return true
	}
	switch v := reflect.ValueOf(got); v.Kind() {
	case reflect.Chan, reflect.Map, reflect.Slice:
		return v.Len() == 0
	case reflect.Pointer:
		return v.IsNil() || isEmpty(v.Elem().Interface())
	default:
		return v.IsZero()
	}
}

func contains(t testing.TB, all, part any) bool {
	t.Helper()
	v := reflect.ValueOf(all)
	switch v.Kind() {
	case reflect.String:
		return strings.Contains(v.String(), reflect.ValueOf(part).String())
	case reflect.Map:
		return v.MapIndex(reflect.ValueOf(part)).IsValid()
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if same(v.Index(i).Interface(), part) {
				return true
			}
		}
		return false
	}
	t.Fatalf("a %T contains nothing", all)
	return false
}
