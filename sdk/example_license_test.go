package sdk_test

import (
	"fmt"
	"log"

	"github.com/tillwright/tillwright/sdk"
)

// A program of yours asks, which has an API key. One on a buyer's device uses PublicLicenseKeys.
func ExampleLicenseKeysService_Validate() {
	validation, err := client.LicenseKeys.Validate(ctx, &sdk.LicenseKeyValidate{
		Key: "9F3XT-0MBWC-5Z8RA-H4DNE-17QK2", Product: "prod_01k0000000000000000000000a",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(validation.Valid, validation.Code)
}

// A buyer's device asks whether its key still opens the program.
func ExamplePublicLicenseKeysService_Validate() {
	device := sdk.New("", sdk.WithBaseURL("https://shop.example/v1"))
	validation, err := device.PublicLicenseKeys.Validate(ctx, &sdk.PublicLicenseKeyValidate{
		Account: "acct_01k0000000000000000000000a", Product: "prod_01k0000000000000000000000a",
		Key: "9F3XT-0MBWC-5Z8RA-H4DNE-17QK2", Fingerprint: new("mac-2f6c1e0a"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(validation.Valid, validation.Code)
}
